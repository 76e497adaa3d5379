#include "tallskinny/gemm/tsm2r/tsm2r.hpp"

#include "tallskinny/tests/support/engine.hpp"

namespace {

template <class T>
void check_tsm2r(index_t m, index_t n, index_t q, std::size_t variant, bool exact = false) {
  using R = result_t<T>;
  CAPTURE(m, n, q, variant);
  Variant<T> v{variant, exact};
  auto d = v.operand_of_op(m, n, form_number(variant)), x = v.operand(n, q, form_number(variant / 2));
  const auto run = [&](const Context& ctx, Operand<R>& out) {
    with_views(
        ctx, [&](auto vd, auto vx, auto vy) { tsm2r(ctx, v.op, v.alpha, vd, vx, v.beta, vy); }, d, x, out);
  };
  check_in_every_way(v.alpha, exact_product(v.op, d, m, Op::none, x, q), v.beta,
                     v.output(m, q, form_number(variant / 5)), run, exact);
}

}  // namespace

TEMPLATE_TEST_CASE("tsm2r of small integers is exact", "[short]", TS_ALL_TYPES) {
  at_small_sizes(
      [](index_t m, index_t n, index_t q, std::size_t variant) { check_tsm2r<TestType>(m, n, q, variant, true); });
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
