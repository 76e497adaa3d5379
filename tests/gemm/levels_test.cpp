// Which code runs is asked for, not guessed: every implementation and vector level leaves its own rounding.
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/cpu/row_kernels.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/engine.hpp"

namespace {

/// The bits of some Gram matrices: the order of additions follows the lanes of the vectors.
std::vector<double> rounding_of(const Context& ctx) {
  std::vector<double> results;
  Values values(1);
  for (const index_t w : {1, 2, 3})
    for (const index_t n : {517, 1003, 20011}) {
      auto a = Operand<double>::random(n, w, {}, values);
      Operand<double> c(w, w);
      with_views([&](auto va, auto vc) { gram(ctx, Op::transpose, 1.0, va, 0.0, vc); }, a, c);
      for (index_t j = 0; j < w; ++j) results.push_back(c.at(0, j));
    }
  return results;
}

}  // namespace

TEST_CASE("every vector level runs its own kernels", "[short]") {
  const auto levels = simd_levels();
  for (std::size_t i = 0; i < levels.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      CAPTURE(name_of(levels[i]), name_of(levels[j]));
      CHECK(rounding_of(fast_context(levels[i])) != rounding_of(fast_context(levels[j])));
      CHECK(&cpu::kernels(levels[i]) != &cpu::kernels(levels[j]));
      CHECK(&cpu::row_kernels(levels[i]) != &cpu::row_kernels(levels[j]));
    }
}

TEST_CASE("the best level is the widest one this processor has, and the fast path is the default", "[short]") {
  CHECK(&cpu::kernels(Simd::best) == &cpu::kernels(this_cpu().simd));
  CHECK(&cpu::row_kernels(Simd::best) == &cpu::row_kernels(this_cpu().simd));
  CHECK(rounding_of(Context{}) == rounding_of(fast_context(this_cpu().simd)));
  CHECK(rounding_of(Context{}) != rounding_of(reference_context()));
}

TEST_CASE("a level that this processor lacks is refused", "[short]") {
  for (const Simd level : {Simd::avx2, Simd::avx512}) {
    if (level <= this_cpu().simd) continue;
    CHECK_THROWS_AS(rounding_of(fast_context(level)), Error);
  }
  CHECK_THROWS_AS(rounding_of(fast_context(static_cast<Simd>(99))), Error);
}

TEST_CASE("beta = 0 does not read what it overwrites, and large results are streamed whole", "[short]") {
  // 12 MB: past the size from which results bypass the caches, with rows that straddle cache lines.
  const index_t n = 500'000;
  std::vector<double> x(static_cast<std::size_t>(3 * n)), y(static_cast<std::size_t>(3 * n) + 2, 7.0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 1000);
  std::fill(y.begin() + 1, y.end() - 1, static_cast<double>(NAN));
  const std::vector<double> s = {1, 0, 0, 0, 2, 0, 0, 0, 4};
  tsmm(Context{}, Op::none, 1.0, HostView<const double>(x.data(), n, 3), HostView<const double>(s.data(), 3, 3), 0.0,
       HostView<double>(y.data() + 1, n, 3));
  bool right = y.front() == 7.0 && y.back() == 7.0;
  for (std::size_t i = 0; i < x.size(); ++i) right = right && y[i + 1] == x[i] * static_cast<double>(1 << (i % 3));
  CHECK(right);
}

TEST_CASE("float32 sums over many rows are as good as float64 sums of float32 blocks", "[short]") {
  const index_t n = 3'000'000;
  std::vector<float> a(static_cast<std::size_t>(n), 0.1f);
  float c = 0;
  gram(Context{}, Op::transpose, 1.0f, HostView<const float>(a.data(), n, 1), 0.0f, HostView<float>(&c, 1, 1));
  const double exact = static_cast<double>(n) * (static_cast<double>(0.1f) * static_cast<double>(0.1f));
  // 128 terms to a float32 sum at most: the error of the whole is that of the blocks.
  CHECK(std::abs(static_cast<double>(c) - exact) <= 128 * eps<float> * exact);
}

// More than 2^31 elements. Takes some GiB of memory, so it runs only when asked for: test_gemm_operations
// [.large]

TEST_CASE("sizes and offsets beyond 32 bits are right", "[.large]") {
  const index_t n = (index_t{1} << 31) + 5;
  auto x = Matrix<bfloat16>::zeros(n, 1);
  for (const index_t i : {index_t{0}, index_t{1} << 30, (index_t{1} << 31) - 1, index_t{1} << 31, n - 1})
    x(i, 0) = to_bfloat16(3);
  Matrix<float> g(1, 1);
  std::vector<float> norm(1);
  gram(Context{}, Op::adjoint, 1.0f, x.view(), 0.0f, g.view());
  CHECK(g(0, 0) == 45.0f);
  column_norms(Context{}, x.view(), std::span<float>(norm));
  CHECK(norm[0] == std::sqrt(45.0f));
  const HostView<bfloat16, Layout::col_major> tall(x.data(), n, 1);
  tsmttsm(Context{}, Op::transpose, 2.0f, tall, x.view(), 0.0f, g.view());
  CHECK(g(0, 0) == 90.0f);
}
