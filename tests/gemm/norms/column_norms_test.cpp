#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/norms/plan.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"

#include "tallskinny/tests/support/engine.hpp"

namespace {

/// A vector of norms that in_every_way can compare.
template <class R>
struct Norms {
  std::vector<R> values;
  [[nodiscard]] std::vector<unsigned char> bits() const { return bits_of(values); }
};

template <class X, class N>
void norms_on_device(const Context& ctx, X x, N norms) {
  if constexpr (DeviceOperand<X>) column_norms(ctx, x, norms);
}

template <class T, class Check>
void each_way(Operand<T>& x, Check&& check) {
  using R = real_t<T>;
  in_every_way(
      Norms<R>{std::vector<R>(static_cast<std::size_t>(x.cols()), R(-1))},
      [&](const Context& ctx, Norms<R>& out) {
        if (ctx.stream) {
          Operand<R> norms(1, x.cols());
          with_views(
              ctx, [&](auto v, auto vn) { norms_on_device(ctx, v, vn); }, x, norms);
          for (index_t j = 0; j < x.cols(); ++j) out.values[static_cast<std::size_t>(j)] = norms.at(0, j);
        } else {
          with_views([&](auto v) { column_norms(ctx, v, std::span<R>(out.values)); }, x);
        }
      },
      [&](const Norms<R>& out) { check(out.values); });
}

template <class T>
void check_norms(Operand<T>& x) {
  std::vector<long double> want(static_cast<std::size_t>(x.cols()));
  for (std::size_t j = 0; j < want.size(); ++j) {
    long double sum = 0;  // the exponent range of long double holds every square
    for (index_t i = 0; i < x.rows(); ++i) {
      const auto v = std::complex<long double>(x.wide_at(i, static_cast<index_t>(j)));
      sum += v.real() * v.real() + v.imag() * v.imag();
    }
    want[j] = std::sqrt(sum);
  }
  each_way(x, [&](const std::vector<real_t<T>>& got) {
    for (std::size_t j = 0; j < want.size(); ++j) {
      CAPTURE(j, got[j], static_cast<double>(want[j]));
      const double bound = product_bound<real_t<T>>(
          is_complex<T> || std::is_same_v<T, double> ? static_cast<double>(x.rows()) : 1, static_cast<double>(want[j]));
      REQUIRE(std::abs(static_cast<double>(static_cast<long double>(got[j]) - want[j])) <=
              bound + std::numeric_limits<real_t<T>>::denorm_min());
    }
  });
}

}  // namespace

TEMPLATE_TEST_CASE("column_norms at every width and layout", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (index_t p = 0; p <= 33; ++p)
      for (const index_t n : {0, 1, 2, 31, 33, 500}) {
        CAPTURE(n, p, variant);
        Values values(variant);
        auto x = Operand<TestType>::random(n, p, form_number(variant++), values);
        check_norms(x);
      }
  });
}

TEMPLATE_TEST_CASE("column_norms of long operands", "[long]", TS_ALL_TYPES) {
  compiled_ahead([] {
    Values values(1);
    for (const index_t p : {1, 3, 8, 65})
      for (std::size_t form = 0; form < 3; ++form) {
        auto x = Operand<TestType>::random(p == 65 ? 5000 : 100003, p, form_number(form), values);
        check_norms(x);
      }
  });
}

TEMPLATE_TEST_CASE("column_norms neither overflows nor underflows", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = real_t<TestType>;
    const double largest =
        std::is_same_v<TestType, float16> ? 65504 : static_cast<double>(std::numeric_limits<R>::max());
    const double smallest = std::is_same_v<TestType, float16> ? 0x1p-24
                            : std::is_same_v<TestType, bfloat16>
                                ? 0x1p-133
                                : static_cast<double>(std::numeric_limits<R>::denorm_min());
    Values values(3);
    for (const index_t n : {1, 40}) {
      auto x = Operand<TestType>::random(n, 5, {}, values);
      for (index_t i = 0; i < n; ++i) {
        x.at(i, 0) = element<TestType>(largest / 16 / static_cast<double>(i + 1));
        x.at(i, 1) = element<TestType>(smallest * static_cast<double>(i + 1));
        x.at(i, 2) = element<TestType>(i == 0 ? largest / 4 : smallest);  // both in one column
        x.at(i, 3) = element<TestType>(0);
      }
      check_norms(x);
    }
  });
}

TEMPLATE_TEST_CASE("column_norms passes NaN and Inf on, each in its column", "[short]", TS_ALL_TYPES) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const index_t n : {1, 9, 500})
    for (const index_t p : {4, 9, 17})
      for (std::size_t form = 0; form < 3; ++form) {
        Values values(3);
        auto x = Operand<TestType>::random(n, p, form_number(form), values);
        x.at(n / 2, 1) = element<TestType>(nan);
        x.at(n / 3, 2) = element<TestType>(-inf);
        x.at(0, 3) = element<TestType>(inf);
        x.at(n - 1, 3) = element<TestType>(nan);
        each_way(x, [&](const std::vector<real_t<TestType>>& norms) {
          for (std::size_t j = 0; j < norms.size(); ++j) {
            CAPTURE(n, p, form, j, norms[j]);
            CHECK(std::isnan(norms[j]) == (j == 1 || j == 3));
            CHECK(std::isinf(norms[j]) == (j == 2));
          }
        });
      }
}

TEST_CASE("column_norms refuses room for another number of norms", "[short]") {
  std::vector<double> memory(30, 1.0), norms(2);
  expect_misuse([&] { column_norms(Context{}, HostView<double>(memory.data(), 10, 3), std::span<double>(norms)); },
                {"column_norms", "norms", "2", "3"});
}

// Policies and launches of column norms, by hand.

namespace {

cuda::GpuProblem norms_of(index_t n, index_t p, const cuda::Form& form) {
  return cuda::GpuProblem{.problem = {Operation::column_norms, DType::float64, n, p, p}, .first = form};
}

}  // namespace

TEST_CASE("rows of odd length fold until they are whole pieces of 16 bytes", "[short]") {
  const auto policy = cuda::column_norms_policy(norms_of(1000, 5, {}));
  CHECK(policy.fold == 2);
  CHECK(policy.tile == 5);
  CHECK(policy.vector == 2);
  CHECK(policy.alignment == 16);
  CHECK(policy.line_threads() == 5);
  CHECK(policy.lines_at_once() == 51);
  const auto gaps = cuda::column_norms_policy(norms_of(1000, 5, {Layout::row_major, false, 8, 1}));
  CHECK(gaps.fold == 1);
  CHECK(gaps.vector == 1);
  CHECK(gaps.alignment == 8);
}

TEST_CASE("columns are tiles of their own, as aligned as their length allows", "[short]") {
  const auto even = cuda::column_norms_policy(norms_of(1000, 3, {Layout::col_major, true, 256, 0}));
  CHECK(even.tiles() == 3);
  CHECK(even.fold == 2);
  CHECK(even.vector == 2);
  CHECK(cuda::column_norms_policy(norms_of(1001, 3, {Layout::col_major, true, 256, 0})).vector == 1);
}

TEST_CASE("as many blocks as the device holds, and 33 for each part at level gpu_to_gpu", "[short]") {
  const cuda::DeviceInfo device = cuda::typical_device("sm_90a");
  cuda::GpuProblem problem = norms_of(1'000'000, 5, {});
  const auto whole = cuda::column_norms_candidates(problem, device).front().kernel;
  CHECK(whole.grid == 3 * 132);
  CHECK(whole.workspace_bytes == 396 * 5 * 3 * 8);
  problem.parts = 24, problem.determinism = Determinism::gpu_to_gpu;
  CHECK(cuda::column_norms_candidates(problem, device).front().kernel.grid == 24 * 33);
  // 100 rows are 50 lines, which one block reads at once.
  CHECK(cuda::column_norms_candidates(norms_of(100, 5, {}), device).front().kernel.grid == 1);
}
