#include "tallskinny/gemm/norms/column_norms.hpp"

#include "tallskinny/tests/support/engine.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// A vector of norms that in_every_way can compare.
template <class R>
struct Norms {
  std::vector<R> values;
  [[nodiscard]] bool same_bits(const Norms& other) const {
    return values.empty() || std::memcmp(values.data(), other.values.data(), values.size() * sizeof(R)) == 0;
  }
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
