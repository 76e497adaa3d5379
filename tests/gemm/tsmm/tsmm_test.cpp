#include "tallskinny/gemm/tsmm/tsmm.hpp"

#include "tallskinny/tests/support/engine.hpp"

using namespace ts;
using namespace ts::test;

namespace {

template <class R>
Wide<R> op_at(Op op, const Operand<R>& s, index_t i, index_t j) {
  if (op == Op::none) return s.wide_at(i, j);
  return op == Op::adjoint ? conjugate(s.wide_at(j, i)) : s.wide_at(j, i);
}

template <class T, class R>
Expected<R> exact(Op op, const Operand<T>& x, const Operand<R>& s, index_t q) {
  return {x.rows(), x.cols(), q, [&](index_t i, index_t k) { return x.wide_at(i, k); },
          [&](index_t k, index_t j) { return op_at(op, s, k, j); }};
}

// One function for all test cases: every combination of layouts is compiled once a type.
template <class T>
void run_tsmm(const Context& ctx, Op op, result_t<T> alpha, Operand<T>& x, Operand<result_t<T>>& s, result_t<T> beta,
              Operand<result_t<T>>& y) {
  with_views(
      ctx, [&](auto vx, auto vs, auto vy) { tsmm(ctx, op, alpha, vx, vs, beta, vy); }, x, s, y);
}

template <class T>
void check_tsmm(index_t n, Widths w, std::size_t variant) {
  using R = result_t<T>;
  CAPTURE(n, w.p, w.q, variant);
  Values values(variant);
  const Op op = ops[variant % 3];
  const R alpha = scalar<R>(variant / 2), beta = scalar_or_zero<R>(variant / 3);
  auto x = Operand<T>::random(n, w.p, form_number(variant), values);
  auto s = Operand<R>::random(op == Op::none ? w.p : w.q, op == Op::none ? w.q : w.p, form_number(variant / 2), values);
  Operand<R> y(n, w.q, form_number(variant / 5));
  if (beta != R{}) y = Operand<R>::random(n, w.q, form_number(variant / 5), values);
  const auto product = exact(op, x, s, w.q);
  in_every_way(
      y, [&](const Context& ctx, Operand<R>& out) { run_tsmm(ctx, op, alpha, x, s, beta, out); },
      [&](const Operand<R>& out) { check_product(out, alpha, product, beta, y); });
}

template <class R>
void check_in_place(index_t n, index_t p, index_t q, std::size_t variant) {
  CAPTURE(n, p, q, variant);
  Values values(variant);
  const Op op = ops[variant % 3];
  const R alpha = scalar<R>(variant / 2);
  const auto x = Operand<R>::random(n, p, form_number(variant), values);
  auto s = Operand<R>::random(op == Op::none ? p : q, op == Op::none ? q : p, form_number(variant / 2), values);
  const auto product = exact(op, x, s, q);
  in_every_way(
      x,
      [&](const Context& ctx, Operand<R>& out) {
        with_views(
            ctx, [&](auto vx, auto vs) { tsmm_in_place(ctx, op, alpha, vx, vs); }, out, s);
      },
      [&](const Operand<R>& out) {
        check_product(out, alpha, product, R{}, x);
        REQUIRE(everywhere(n, p - q, [&](index_t i, index_t j) { return out.at(i, q + j) == x.at(i, q + j); }));
      });
}

}  // namespace

TEMPLATE_TEST_CASE("tsmm of small integers is exact", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = result_t<TestType>;
    Values values(11);
    for (std::size_t variant = 0; variant < 36; ++variant) {
      const index_t n = values.below(6), p = 1 + values.below(5), q = 1 + values.below(5);
      const Op op = ops[variant % 3];
      auto x = Operand<TestType>::integers(n, p, form_number(variant), values);
      auto s = Operand<R>::integers(op == Op::none ? p : q, op == Op::none ? q : p, form_number(variant / 6), values);
      const auto y = Operand<R>::integers(n, q, form_number(variant / 2), values);
      const auto product = exact(op, x, s, q);
      in_every_way(
          y, [&](const Context& ctx, Operand<R>& out) { run_tsmm(ctx, op, R{2}, x, s, R{-1}, out); },
          [&](const Operand<R>& out) { check_exact(out, R{2}, product, R{-1}, y); });
    }
  });
}

TEMPLATE_TEST_CASE("tsmm at every width, layout, leading dimension, alpha and beta", "[short]", TS_ALL_TYPES) {
  at_all_widths({0, 1, 2, 31, 33}, check_tsmm<TestType>);
}

TEMPLATE_TEST_CASE("tsmm in place at every width, layout and leading dimension", "[short]", TS_RESULT_TYPES) {
  at_all_widths({0, 1, 33}, [](index_t n, Widths w, std::size_t variant) {
    check_in_place<TestType>(n, std::max(w.p, w.q), std::min(w.p, w.q), variant);
  });
}

TEMPLATE_TEST_CASE("tsmm of long operands", "[long]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = result_t<TestType>;
    std::size_t variant = 0;
    for (const Widths w : widths_that_bite()) {
      check_tsmm<TestType>(1000, w, variant);
      check_in_place<R>(1000, std::max(w.p, w.q), std::min(w.p, w.q), variant++);
    }
    for (const Widths w : {Widths{1, 1}, {3, 3}, {8, 8}, {4, 17}}) {
      check_tsmm<TestType>(100003, w, 0);
      check_tsmm<TestType>(100003, w, variant++);
    }
    check_in_place<R>(100003, 5, 3, 0);
  });
}

TEMPLATE_TEST_CASE("tsmm of more columns than fit beside their factor", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const index_t p : {129, 200, 512})
      for (const index_t q : {1, 3, 17, 64}) {
        check_tsmm<TestType>(0, {p, q}, variant);
        check_tsmm<TestType>(35, {p, q}, variant);       // in turns at every form
        check_tsmm<TestType>(290, {p, q}, 6 * variant);  // as the copy engine takes X
        ++variant;
      }
    check_tsmm<TestType>(70, {136, 130}, 0);
    check_tsmm<TestType>(13, {400, 390}, 1);
    check_in_place<result_t<TestType>>(70, 200, 130, 0);
  });
}

TEMPLATE_TEST_CASE("NaN and Inf stay in their row, and Inf stays Inf", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = result_t<TestType>;
    for (const index_t w : {1, 2, 3, 5, 8, 17, 32, 49, 200})
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        CAPTURE(w, bad);
        Values values(3);
        auto x = Operand<TestType>::random(40, w, {}, values);
        auto s = Operand<R>::random(w, w, {}, values);
        x.at(21, w / 2) = element<TestType>(bad);
        s.at(w - 1, 0) = element<R>(bad);  // in every row's first result
        if constexpr (std::is_same_v<R, float>)
          if (std::isnan(bad)) s.at(w - 1, 0) = std::bit_cast<float>(0x7fffffffu);  // as GPUs make it
        in_every_way(
            Operand<R>(40, w),
            [&](const Context& ctx, Operand<R>& out) { run_tsmm(ctx, Op::none, R{1}, x, s, R{}, out); },
            [&](const Operand<R>& out) {
              REQUIRE(everywhere(40, w, [&](index_t i, index_t j) {
                const auto size = std::abs(out.wide_at(i, j));
                if (i != 21 && j > 0) return std::isfinite(size);
                // Infinities of both signs, and all products of complex ones, may be NaN.
                return is_complex<R> || (i == 21 && j == 0) || std::isnan(bad) ? !std::isfinite(size)
                                                                               : std::isinf(size);
              }));
            });
      }
  });
}

TEST_CASE("neighbouring column blocks of one basis do not count as overlapping", "[short]") {
  Values values(1);
  auto basis = Operand<double>::random(50, 9, {}, values);
  auto s = Operand<double>::random(4, 5, {}, values);
  const auto before = basis;
  with_views([](auto v, auto vs) { tsmm(Context{}, Op::none, 1.0, v.cols(0, 4), vs, 0.0, v.cols(4, 5)); }, basis, s);
  for (index_t i = 0; i < 50; ++i) {
    double sum = 0;
    for (index_t k = 0; k < 4; ++k) sum += before.at(i, k) * s.at(k, 2);
    CHECK(std::abs(basis.at(i, 6) - sum) <= product_bound<double>(4, 4));
    CHECK(basis.at(i, 3) == before.at(i, 3));
  }
}

TEST_CASE("tsmm refuses misuse by naming the argument", "[short]") {
  std::vector<double> memory(200, 1.0);
  const Context ctx;
  const HostView<double> x(memory.data(), 10, 3), s(memory.data() + 40, 3, 2), y(memory.data() + 100, 10, 2);
  expect_misuse([&] { tsmm(ctx, Op::transpose, 1.0, x, s, 0.0, y); }, {"tsmm", "op(S)", "2 x 3"});
  expect_misuse([&] { tsmm(ctx, Op::none, 1.0, x, s, 0.0, y.rows(0, 9)); }, {"Y", "9 x 2", "10 x 2"});
  expect_misuse([&] { tsmm(ctx, Op::none, 1.0, x, s, 0.0, HostView<double>(memory.data() + 20, 10, 2)); },
                {"Y overlaps X"});
  expect_misuse([&] { tsmm(ctx, Op::none, 1.0, x, s, 0.0, HostView<double>(memory.data() + 45, 10, 2)); },
                {"Y overlaps S"});
  expect_misuse([&] { tsmm_in_place(ctx, Op::none, 1.0, y, HostView<double>(memory.data(), 2, 3)); },
                {"tsmm_in_place", "op(S)", "columns"});
  expect_misuse([&] { tsmm_in_place(ctx, Op::none, 1.0, x, HostView<double>(memory.data() + 20, 3, 3)); },
                {"X overlaps S"});
}
