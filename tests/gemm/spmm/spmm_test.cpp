#include "tallskinny/gemm/spmm/spmm.hpp"

#include "tallskinny/gemm/runtime/reach.hpp"
#include "tallskinny/tests/support/engine.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// A matrix with empty rows, unsorted and repeated columns, and unless it is even every 50th row much longer than the
/// others.
template <class T, class I>
CsrMatrix<T, I> random_sparse(index_t rows, index_t cols, Values& values, bool integers = false, bool even = false) {
  CsrMatrix<T, I> a;
  a.rows = rows, a.cols = cols;
  for (index_t i = 0; i < rows; ++i) {
    const index_t count = cols == 0 ? 0 : !even && i % 50 == 7 ? 3 * cols / 2 : values.below(7);
    for (index_t e = 0; e < count; ++e) {
      a.indices.push_back(static_cast<I>(values.below(cols)));
      const double re = integers ? static_cast<double>(values.below(9) - 4) : values.uniform();
      a.values.push_back(element<T>(re, integers ? static_cast<double>(values.below(9) - 4) : values.uniform()));
    }
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  return a;
}

template <class T, class I>
Expected<result_t<T>> exact(Op op, const CsrMatrix<T, I>& a, const Operand<T>& x) {
  Expected<result_t<T>> product(
      op == Op::none ? a.rows : a.cols, 0, x.cols(), [](index_t, index_t) { return 0; },
      [](index_t, index_t) { return 0; });
  std::vector<index_t> terms(static_cast<std::size_t>(product.rows));
  for (index_t i = 0; i < a.rows; ++i)
    for (auto e = static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i) + 1]); ++e) {
      const auto value = op == Op::adjoint ? conjugate(wide(a.values[e])) : wide(a.values[e]);
      const index_t column = a.indices[e], row_out = op == Op::none ? i : column, row_in = op == Op::none ? column : i;
      product.terms = std::max(product.terms, ++terms[static_cast<std::size_t>(row_out)]);
      for (index_t j = 0; j < x.cols(); ++j) product.add(row_out, j, multiply(value, x.wide_at(row_in, j)));
    }
  return product;
}

/// check(Y) for Y = alpha op(A) X + beta Y, in every way.
template <class T, class I, class R, class Check>
void multiply_in_every_way(Op op, R alpha, const CsrMatrix<T, I>& a, Operand<T>& x, R beta, const Operand<R>& y,
                           Check&& check) {
  const auto multiply = [&](const Context& ctx, Operand<R>& out) {
    with_views(
        ctx, [&](auto va, auto vx, auto vy) { spmm(ctx, op, alpha, va, vx, beta, vy); }, a, x, out);
  };
  in_every_way(y, multiply, check);
}

template <class T, class I>
void check_spmm(index_t rows, index_t cols, index_t q, std::size_t variant) {
  using R = result_t<T>;
  CAPTURE(rows, cols, q, variant);
  Values values(variant);
  const Op op = ops[variant % 3];
  const R alpha = scalar<R>(variant / 2), beta = scalar_or_zero<R>(variant / 3);
  const auto a = random_sparse<T, I>(rows, cols, values, false, variant % 2 == 1);
  auto x = Operand<T>::random(op == Op::none ? cols : rows, q, form_number(variant / 2), values);
  const index_t m = op == Op::none ? rows : cols;
  Operand<R> y(m, q, form_number(variant / 5));
  if (beta != R{}) y = Operand<R>::random(m, q, form_number(variant / 5), values);
  const auto product = exact(op, a, x);
  multiply_in_every_way(op, alpha, a, x, beta, y,
                        [&](const Operand<R>& out) { check_product(out, alpha, product, beta, y); });
}

}  // namespace

TEMPLATE_TEST_CASE("spmm of small integers is exact", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = result_t<TestType>;
    Values values(19);
    for (std::size_t variant = 0; variant < 36; ++variant) {
      const index_t rows = values.below(6), cols = values.below(6), q = 1 + values.below(4);
      const Op op = ops[variant % 3];
      const auto a = random_sparse<TestType, std::int32_t>(rows, cols, values, true);
      auto x = Operand<TestType>::integers(op == Op::none ? cols : rows, q, form_number(variant / 6), values);
      const auto y = Operand<R>::integers(op == Op::none ? rows : cols, q, form_number(variant / 2), values);
      const auto product = exact(op, a, x);
      multiply_in_every_way(op, R{2}, a, x, R{-1}, y,
                            [&](const Operand<R>& out) { check_exact(out, R{2}, product, R{-1}, y); });
    }
  });
}

TEMPLATE_TEST_CASE("spmm at every width, layout, leading dimension, alpha and beta", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (index_t q = 1; q <= 17; ++q) {
      check_spmm<TestType, std::int32_t>(60, 47, q, variant++);
      check_spmm<TestType, std::int64_t>(47, 60, q, variant++);
    }
    for (const index_t q : {31, 32, 33, 64, 65}) {
      check_spmm<TestType, std::int32_t>(60, 47, q, variant++);
      check_spmm<TestType, std::int64_t>(31, 1, q, variant++);
      check_spmm<TestType, std::int32_t>(0, 3, q, variant++);
      check_spmm<TestType, std::int32_t>(3, 0, q, variant++);
      check_spmm<TestType, std::int32_t>(1, 1, q, variant++);
    }
  });
}

TEMPLATE_TEST_CASE("spmm of large matrices", "[long]", TS_ALL_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const index_t q : {1, 3, 4, 8, 16, 33}) {
      check_spmm<TestType, std::int32_t>(2000, 300, q, variant++);
      check_spmm<TestType, std::int64_t>(300, 2000, q, variant++);
    }
  });
}

TEMPLATE_TEST_CASE("spmm with a row of very many entries", "[short]", TS_ALL_TYPES) {
  compiled_ahead([] {
    using R = result_t<TestType>;
    Values values(23);
    auto a = random_sparse<TestType, std::int32_t>(700, 90, values);
    for (const index_t length : {20000, 0, 250, 8000}) {
      for (index_t e = 0; e < length; ++e) {
        a.indices.push_back(static_cast<std::int32_t>(values.below(90)));
        a.values.push_back(element<TestType>(values.uniform(), values.uniform()));
      }
      a.pointers.push_back(static_cast<index_t>(a.indices.size())), ++a.rows;
    }
    for (const index_t q : {1, 2, 5, 16, 33, 64}) {
      auto x = Operand<TestType>::random(90, q, {}, values);
      const auto y = Operand<R>::random(a.rows, q, {}, values);
      const auto product = exact(Op::none, a, x);
      multiply_in_every_way(Op::none, R{2}, a, x, R{-1}, y,
                            [&](const Operand<R>& out) { check_product(out, R{2}, product, R{-1}, y); });
    }
  });
}

TEST_CASE("a column of X that holds NaN does not reach the others", "[short]") {
  Values values(5);
  const auto a = random_sparse<double, std::int32_t>(60, 40, values);
  for (const index_t q : {2, 3, 8, 9}) {
    auto x = Operand<double>::random(40, q, {}, values);
    for (index_t i = 0; i < 40; ++i) x.at(i, 1) = std::nan("");
    multiply_in_every_way(Op::none, 1.0, a, x, 0.0, Operand<double>(60, q), [&](const Operand<double>& out) {
      REQUIRE(everywhere(60, q, [&](index_t i, index_t j) {
        const auto row = static_cast<std::size_t>(i);
        return std::isnan(out.at(i, j)) == (j == 1 && a.pointers[row] < a.pointers[row + 1]);
      }));
    });
  }
}

namespace {

/// Rows of -1, 0 and 1 in up to four of the columns that are at most `reach` from the diagonal, some without entries.
template <class T, class I>
CsrMatrix<T, I> near_diagonal(index_t rows, index_t reach, Values& values) {
  CsrMatrix<T, I> a;
  a.rows = a.cols = rows;
  for (index_t i = 0; i < rows; ++i) {
    for (index_t left = values.below(5); left > 0; --left) {
      const index_t j = i - reach + values.below(2 * reach + 1);
      if (j < 0 || j >= rows) continue;
      a.indices.push_back(static_cast<I>(j));
      const auto re = static_cast<double>(values.below(3) - 1);
      a.values.push_back(element<T>(re, static_cast<double>(values.below(3) - 1)));
    }
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  return a;
}

/// `count` times Y = A X - 2 X - Y, with X and Y beside each other in one operand, whose elements stay exact integers.
template <class T, class I>
void check_recurrence(index_t rows, index_t q, index_t reach, index_t count, bool known, std::size_t variant) {
  CAPTURE(rows, q, reach, count, known, variant);
  Values values(variant);
  const auto a = near_diagonal<T, I>(rows, reach, values);
  const auto both = Operand<T>::integers(rows, 2 * q, form_number(variant), values);
  auto want = both;
  for (index_t k = 0; k < count; ++k) {
    const index_t x = k % 2 * q, y = q - x;
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < q; ++j) want.at(i, y + j) = -want.at(i, y + j) - T{2} * want.at(i, x + j);
    for (index_t i = 0; i < rows; ++i)
      for (auto e = static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i)]);
           e < static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i) + 1]); ++e)
        for (index_t j = 0; j < q; ++j) want.at(i, y + j) += a.values[e] * want.at(a.indices[e], x + j);
  }
  in_every_way(
      both,
      [&](const Context& ctx, Operand<T>& out) {
        with_views(
            ctx,
            [&](auto va, auto v) {
              if (!known) va.facts.reach = -1;
              if constexpr (requires { va.nonzeros(); })
                if (known) va.facts.reach = reach_of(va);
              spmm_recurrence(ctx, count, real_t<T>{1}, va, real_t<T>{2}, v.block(0, 0, rows, q), real_t<T>{-1},
                              v.block(0, q, rows, q));
            },
            a, out);
      },
      [&](const Operand<T>& out) {
        REQUIRE(out.surroundings_untouched());
        REQUIRE(everywhere(rows, 2 * q, [&](index_t i, index_t j) { return out.at(i, j) == want.at(i, j); }));
      });
}

}  // namespace

TEMPLATE_TEST_CASE("a recurrence of small integers is exact, however many steps go together", "[short]",
                   TS_RESULT_TYPES) {
  compiled_ahead([] {
    std::size_t variant = 0;
    for (const index_t q : {1, 2, 3, 8, 17, 40})
      for (const index_t count : {0, 1, 2, 5}) {
        check_recurrence<TestType, std::int32_t>(100, q, 3, count, true, variant++);
        check_recurrence<TestType, std::int64_t>(100, q, 70, count, false, variant++);
      }
    for (const index_t reach : {0, 1, 500, 5000})  // many tiles
      check_recurrence<TestType, std::int32_t>(20000, 4, reach, 5, true, 0);
    check_recurrence<TestType, std::int32_t>(0, 3, 0, 3, true, 0);
  });
}

TEMPLATE_TEST_CASE("a recurrence of some rows leaves the others as they are", "[short]", TS_RESULT_TYPES) {
  using T = TestType;
  constexpr index_t rows = 9000, q = 3;
  Values values(7);
  const auto a = near_diagonal<T, std::int32_t>(rows, 20, values);
  const std::vector<StepRows> some = {{10, 8990}, {0, rows}, {4000, 4000}, {30, 70}, {5000, rows}, {1, 8000}};
  const auto both = Operand<T>::integers(rows, 2 * q, form_number(0), values);
  auto want = both;
  for (std::size_t k = 0; k < some.size(); ++k)
    for (index_t i = some[k].begin; i < some[k].end; ++i)
      for (index_t j = 0; j < q; ++j) {
        const index_t x = k % 2 == 0 ? j : q + j, y = 2 * j + q - x;
        T sum = -want.at(i, y) - T{2} * want.at(i, x);
        for (auto e = static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i)]);
             e < static_cast<std::size_t>(a.pointers[static_cast<std::size_t>(i) + 1]); ++e)
          sum += a.values[e] * want.at(a.indices[e], x);
        want.at(i, y) = sum;
      }
  auto view = a.view();
  view.facts.reach = reach_of(view);
  for (const Implementation implementation : {Implementation::fast, Implementation::reference})
    for (const int threads : {1, 2, 5})
      for (const bool row_major : {true, false}) {
        CAPTURE(implementation == Implementation::fast, threads, row_major);
        Context ctx{.threads = threads, .implementation = implementation};
        Matrix<T> lines(rows, 2 * q);
        Matrix<T, Space::host, Layout::col_major> columns(rows, 2 * q);
        const auto check = [&](auto v) {
          for (index_t i = 0; i < rows; ++i)
            for (index_t j = 0; j < 2 * q; ++j) v(i, j) = both.at(i, j);
          spmm_recurrence(ctx, std::span(some), real_t<T>{1}, view, real_t<T>{2}, v.cols(0, q), real_t<T>{-1},
                          v.cols(q, q));
          REQUIRE(everywhere(rows, 2 * q, [&](index_t i, index_t j) { return v(i, j) == want.at(i, j); }));
        };
        if (row_major)
          CHECK(steps_together(ctx, view, q) > (implementation == Implementation::fast && threads == 1 ? 1 : 0));
        if (row_major)
          check(lines.view());
        else
          check(columns.view());
      }
}

TEST_CASE("a step with beta = 0 does not read Y", "[short]") {
  Values values(3);
  const auto a = near_diagonal<double, std::int32_t>(50, 5, values);
  for (const index_t q : {1, 3, 8}) {
    Operand<double> both(50, 2 * q);  // holds NaN
    for (index_t i = 0; i < 50; ++i)
      for (index_t j = 0; j < q; ++j) both.at(i, j) = 1;
    in_every_way(
        both,
        [&](const Context& ctx, Operand<double>& out) {
          with_views(
              ctx,
              [&](auto va, auto v) {
                spmm_recurrence(ctx, 1, 2.0, va, 0.5, v.block(0, 0, 50, q), 0.0, v.block(0, q, 50, q));
              },
              a, out);
        },
        [&](const Operand<double>& out) {
          REQUIRE(everywhere(50, q, [&](index_t i, index_t j) { return !std::isnan(out.at(i, q + j)); }));
        });
  }
}

TEST_CASE("spmm refuses misuse by naming the argument", "[short]") {
  Values values(5);
  const auto a = random_sparse<double, std::int32_t>(6, 5, values);
  std::vector<double> memory(100, 1.0);
  const Context ctx;
  const HostView<double> x(memory.data(), 5, 2), y(memory.data() + 20, 6, 2);
  expect_misuse([&] { spmm(ctx, Op::transpose, 1.0, a.view(), x, 0.0, y); }, {"spmm", "X", "5 x 2", "6 x 2"});
  expect_misuse([&] { spmm(ctx, Op::none, 1.0, a.view(), x, 0.0, y.rows(0, 5)); }, {"Y", "5 x 2", "6 x 2"});
  expect_misuse([&] { spmm(ctx, Op::none, 1.0, a.view(), x, 0.0, HostView<double>(memory.data() + 4, 6, 2)); },
                {"Y overlaps X"});
  auto broken = a.view();
  broken.indices = nullptr;
  expect_misuse([&] { spmm(ctx, Op::none, 1.0, broken, x, 0.0, y); }, {"A", "column numbers"});
  expect_misuse([&] { spmm_recurrence(ctx, 2, 1.0, a.view(), 0.0, x, 0.0, y); }, {"spmm_recurrence", "square"});
  const auto square = random_sparse<double, std::int32_t>(5, 5, values);
  const std::vector<StepRows> beyond = {{0, 5}, {3, 6}};
  expect_misuse([&] { spmm_recurrence(ctx, std::span(beyond), 1.0, square.view(), 0.0, x, 0.0, y.rows(0, 5)); },
                {"spmm_recurrence", "rows that A does not have"});
  broken = a.view();
  broken.pointers = nullptr;
  expect_misuse([&] { spmm(ctx, Op::none, 1.0, broken, x, 0.0, y); }, {"A", "row pointers"});
}
