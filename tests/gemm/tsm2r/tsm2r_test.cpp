#include "tallskinny/gemm/tsm2r/tsm2r.hpp"

#include "tallskinny/tests/support/engine.hpp"

using namespace ts;
using namespace ts::test;

namespace {

template <class T>
Expected<result_t<T>> exact_tsm2r(Op op, const Operand<T>& d, const Operand<T>& x) {
  return {op == Op::none ? d.rows() : d.cols(), x.rows(), x.cols(),
          [&](index_t i, index_t k) {
            if (op == Op::none) return d.wide_at(i, k);
            return op == Op::adjoint ? conjugate(d.wide_at(k, i)) : d.wide_at(k, i);
          },
          [&](index_t k, index_t j) { return x.wide_at(k, j); }};
}

// One function for all test cases: every combination of layouts is compiled once a type.
template <class T>
void run_tsm2r(const Context& ctx, Op op, result_t<T> alpha, Operand<T>& d, Operand<T>& x, result_t<T> beta,
               Operand<result_t<T>>& y) {
  with_views(
      ctx, [&](auto vd, auto vx, auto vy) { tsm2r(ctx, op, alpha, vd, vx, beta, vy); }, d, x, y);
}

template <class T>
void check_tsm2r(index_t m, index_t n, index_t q, std::size_t variant) {
  using R = result_t<T>;
  CAPTURE(m, n, q, variant);
  Values values(variant);
  const Op op = ops[variant % 3];
  const R alpha = scalar<R>(variant / 2), beta = scalar_or_zero<R>(variant / 3);
  auto d = Operand<T>::random(op == Op::none ? m : n, op == Op::none ? n : m, form_number(variant), values);
  auto x = Operand<T>::random(n, q, form_number(variant / 2), values);
  Operand<R> y(m, q, form_number(variant / 5));
  if (beta != R{}) y = Operand<R>::random(m, q, form_number(variant / 5), values);
  const auto product = exact_tsm2r(op, d, x);
  in_every_way(
      y, [&](const Context& ctx, Operand<R>& out) { run_tsm2r(ctx, op, alpha, d, x, beta, out); },
      [&](const Operand<R>& out) { check_product(out, alpha, product, beta, y); });
}

}  // namespace

TEMPLATE_TEST_CASE("tsm2r of small integers is exact", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = result_t<TestType>;
    Values values(13);
    for (std::size_t variant = 0; variant < 36; ++variant) {
      const index_t m = values.below(6), n = values.below(6), q = 1 + values.below(4);
      const Op op = ops[variant % 3];
      auto d =
          Operand<TestType>::integers(op == Op::none ? m : n, op == Op::none ? n : m, form_number(variant), values);
      auto x = Operand<TestType>::integers(n, q, form_number(variant / 6), values);
      const auto y = Operand<R>::integers(m, q, form_number(variant / 2), values);
      const auto product = exact_tsm2r(op, d, x);
      in_every_way(
          y, [&](const Context& ctx, Operand<R>& out) { run_tsm2r(ctx, op, R{2}, d, x, R{-1}, out); },
          [&](const Operand<R>& out) { check_exact(out, R{2}, product, R{-1}, y); });
    }
  });
}

TEMPLATE_TEST_CASE("tsm2r at every width, layout, leading dimension, alpha and beta", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const index_t q : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33}) {
      check_tsm2r<TestType>(0, 5, q, variant++);
      check_tsm2r<TestType>(5, 0, q, variant++);
      check_tsm2r<TestType>(1, 1, q, variant++);
      check_tsm2r<TestType>(33, 70, q, variant++);
      check_tsm2r<TestType>(70, 33, q, variant++);
    }
  });
}

TEMPLATE_TEST_CASE("tsm2r of large operands", "[long]", TS_ALL_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const index_t q : {1, 2, 4, 7, 16, 65}) {
      check_tsm2r<TestType>(257, 300, q, variant++);
      check_tsm2r<TestType>(3, 5000, q, variant++);
      check_tsm2r<TestType>(5000, 3, q, variant++);
      check_tsm2r<TestType>(40009, 17, q, variant++);
    }
  });
}

TEST_CASE("tsm2r refuses misuse by naming the argument", "[short]") {
  std::vector<double> memory(200, 1.0);
  const Context ctx;
  const HostView<double> d(memory.data(), 6, 5), x(memory.data() + 40, 5, 2), y(memory.data() + 100, 6, 2);
  expect_misuse([&] { tsm2r(ctx, Op::transpose, 1.0, d, x, 0.0, y); }, {"tsm2r", "X", "5 x 2", "6 x 2"});
  expect_misuse([&] { tsm2r(ctx, Op::none, 1.0, d, x, 0.0, y.rows(0, 5)); }, {"Y", "5 x 2", "6 x 2"});
  expect_misuse([&] { tsm2r(ctx, Op::none, 1.0, d, x, 0.0, HostView<double>(memory.data() + 20, 6, 2)); },
                {"Y overlaps D"});
  expect_misuse([&] { tsm2r(ctx, Op::none, 1.0, d, x, 0.0, HostView<double>(memory.data() + 45, 6, 2)); },
                {"Y overlaps X"});
}
