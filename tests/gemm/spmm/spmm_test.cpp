#include "tallskinny/gemm/spmm/spmm.hpp"

#include "tallskinny/gemm/runtime/reach.hpp"
#include "tallskinny/gemm/spmm/steps.hpp"
#include "tallskinny/tests/support/engine.hpp"

namespace {

/// A matrix with empty rows, unsorted and repeated columns, and unless it is even every 50th row much longer than the
/// others.
template <class T, class I = std::int32_t>
CsrMatrix<T, I> random_sparse(index_t rows, index_t cols, Values& values, bool integers = false, bool even = false) {
  const auto number = [&] { return integers ? static_cast<double>(values.below(9) - 4) : values.uniform(); };
  return csr_by_rows<T, I>(rows, cols, [&](index_t i, auto add) {
    for (index_t e = cols == 0 ? 0 : !even && i % 50 == 7 ? 3 * cols / 2 : values.below(7); e > 0; --e) {
      const index_t column = values.below(cols);
      const double re = number();
      add(column, element<T>(re, number()));
    }
  });
}

template <class T, class I>
Expected<result_t<T>> exact(Op op, const CsrMatrix<T, I>& a, const Operand<T>& x) {
  Expected<result_t<T>> product(
      op == Op::none ? a.rows : a.cols, 0, x.cols(), [](index_t, index_t) { return 0; },
      [](index_t, index_t) { return 0; });
  std::vector<index_t> terms(static_cast<std::size_t>(product.rows));
  for_each_entry(a.view(), [&](index_t i, index_t column, const T& entry) {
    const auto value = op == Op::adjoint ? conjugate(wide(entry)) : wide(entry);
    const index_t row_out = op == Op::none ? i : column, row_in = op == Op::none ? column : i;
    product.terms = std::max(product.terms, ++terms[static_cast<std::size_t>(row_out)]);
    for (index_t j = 0; j < x.cols(); ++j) product.add(row_out, j, multiply(value, x.wide_at(row_in, j)));
  });
  return product;
}

/// Y = alpha op(A) X + beta Y.
template <class T, class I, class R>
void run_spmm(const Context& ctx, Op op, R alpha, const CsrMatrix<T, I>& a, Operand<T>& x, R beta, Operand<R>& y) {
  with_views(
      ctx, [&](auto va, auto vx, auto vy) { spmm(ctx, op, alpha, va, vx, beta, vy); }, a, x, y);
}

template <class T, class I>
void check_spmm(index_t rows, index_t cols, index_t q, std::size_t variant, bool exactly = false) {
  using R = result_t<T>;
  CAPTURE(rows, cols, q, variant);
  Variant<T> v{variant, exactly};
  const auto a = random_sparse<T, I>(rows, cols, v.values, exactly, variant % 2 == 1);
  const bool plain = v.op == Op::none;
  auto x = v.operand(plain ? cols : rows, q, form_number(variant / 2));
  check_in_every_way(
      v.alpha, exact(v.op, a, x), v.beta, v.output(plain ? rows : cols, q, form_number(variant / 5)),
      [&](const Context& ctx, Operand<R>& out) { run_spmm(ctx, v.op, v.alpha, a, x, v.beta, out); }, exactly);
}

}  // namespace

TEMPLATE_TEST_CASE("spmm of small integers is exact", "[short]", TS_ALL_TYPES) {
  at_small_sizes([](index_t rows, index_t cols, index_t q, std::size_t variant) {
    check_spmm<TestType, std::int32_t>(rows, cols, q, variant, true);
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
    const auto a = csr_by_rows<TestType>(704, 90, [&](index_t i, auto add) {
      const index_t last[] = {20000, 0, 250, 8000};
      for (index_t e = i < 700 ? values.below(7) : last[i - 700]; e > 0; --e)
        add(values.below(90), element<TestType>(values.uniform(), values.uniform()));
    });
    for (const index_t q : {1, 2, 5, 16, 33, 64}) {
      auto x = Operand<TestType>::random(90, q, {}, values);
      check_in_every_way(R{2}, exact(Op::none, a, x), R{-1}, Operand<R>::random(a.rows, q, {}, values),
                         [&](const Context& ctx, Operand<R>& out) { run_spmm(ctx, Op::none, R{2}, a, x, R{-1}, out); });
    }
  });
}

TEST_CASE("a column of X that holds NaN does not reach the others", "[short]") {
  Values values(5);
  const auto a = random_sparse<double>(60, 40, values);
  for (const index_t q : {2, 3, 8, 9}) {
    auto x = Operand<double>::random(40, q, {}, values);
    for (index_t i = 0; i < 40; ++i) x.at(i, 1) = std::nan("");
    in_every_way(
        Operand<double>(60, q),
        [&](const Context& ctx, Operand<double>& out) { run_spmm(ctx, Op::none, 1.0, a, x, 0.0, out); },
        [&](const Operand<double>& out) {
          REQUIRE(everywhere(60, q, [&](index_t i, index_t j) {
            const auto row = static_cast<std::size_t>(i);
            return std::isnan(out.at(i, j)) == (j == 1 && a.pointers[row] < a.pointers[row + 1]);
          }));
        });
  }
}

namespace {

/// Rows of -1, 0 and 1 in up to four of the columns that are at most `reach` from the diagonal, some without entries.
template <class T, class I = std::int32_t>
CsrMatrix<T, I> near_diagonal(index_t rows, index_t reach, Values& values) {
  return csr_by_rows<T, I>(rows, rows, [&](index_t i, auto add) {
    for (index_t left = values.below(5); left > 0; --left) {
      const index_t j = i - reach + values.below(2 * reach + 1);
      if (j < 0 || j >= rows) continue;
      const auto re = static_cast<double>(values.below(3) - 1);
      add(j, element<T>(re, static_cast<double>(values.below(3) - 1)));
    }
  });
}

/// Y = A X - 2 X - Y in these rows of an operand with X and Y beside each other, Y first after odd steps.
template <class T, class I>
void step(Operand<T>& both, const CsrMatrix<T, I>& a, std::size_t k, StepRows rows) {
  const index_t q = both.cols() / 2, x = k % 2 == 0 ? 0 : q, y = q - x;
  for (index_t i = rows.begin; i < rows.end; ++i)
    for (index_t j = 0; j < q; ++j) both.at(i, y + j) = -both.at(i, y + j) - T{2} * both.at(i, x + j);
  for_each_entry(a.view(), [&](index_t i, index_t column, const T& entry) {
    if (rows.begin <= i && i < rows.end)
      for (index_t j = 0; j < q; ++j) both.at(i, y + j) += entry * both.at(column, x + j);
  });
}

/// `count` times Y = A X - 2 X - Y, with X and Y beside each other in one operand, whose elements stay exact integers.
template <class T, class I>
void check_recurrence(index_t rows, index_t q, index_t reach, index_t count, bool known, std::size_t variant) {
  CAPTURE(rows, q, reach, count, known, variant);
  Values values(variant);
  const auto a = near_diagonal<T, I>(rows, reach, values);
  const auto both = Operand<T>::integers(rows, 2 * q, form_number(variant), values);
  auto want = both;
  for (index_t k = 0; k < count; ++k) step(want, a, static_cast<std::size_t>(k), {0, rows});
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
  const auto a = near_diagonal<T>(rows, 20, values);
  const std::vector<StepRows> some = {{10, 8990}, {0, rows}, {4000, 4000}, {30, 70}, {5000, rows}, {1, 8000}};
  const auto both = Operand<T>::integers(rows, 2 * q, form_number(0), values);
  auto want = both;
  for (std::size_t k = 0; k < some.size(); ++k) step(want, a, k, some[k]);
  auto view = a.view();
  view.facts.reach = reach_of(view);
  for (const Implementation implementation : {Implementation::fast, Implementation::reference})
    for (const int threads : {1, 2, 5})
      for (const bool row_major : {true, false}) {
        CAPTURE(implementation == Implementation::fast, threads, row_major);
        Context ctx{.threads = threads, .implementation = implementation};
        Operand<T> out(rows, 2 * q, {row_major ? Layout::row_major : Layout::col_major});
        out.fill([&](index_t i, index_t j) { return both.at(i, j); });
        if (row_major)
          CHECK(steps_together(ctx, view, q) > (implementation == Implementation::fast && threads == 1 ? 1 : 0));
        out.with_view([&](auto v) {
          spmm_recurrence(ctx, std::span(some), real_t<T>{1}, view, real_t<T>{2}, v.cols(0, q), real_t<T>{-1},
                          v.cols(q, q));
        });
        REQUIRE(everywhere(rows, 2 * q, [&](index_t i, index_t j) { return out.at(i, j) == want.at(i, j); }));
      }
}

TEST_CASE("a step with beta = 0 does not read Y", "[short]") {
  Values values(3);
  const auto a = near_diagonal<double>(50, 5, values);
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
  const auto a = random_sparse<double>(6, 5, values);
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
  const auto square = random_sparse<double>(5, 5, values);
  const std::vector<StepRows> beyond = {{0, 5}, {3, 6}};
  expect_misuse([&] { spmm_recurrence(ctx, std::span(beyond), 1.0, square.view(), 0.0, x, 0.0, y.rows(0, 5)); },
                {"spmm_recurrence", "rows that A does not have"});
  broken = a.view();
  broken.pointers = nullptr;
  expect_misuse([&] { spmm(ctx, Op::none, 1.0, broken, x, 0.0, y); }, {"A", "row pointers"});
}

// Several sparse products in one pass.

TEST_CASE("each tile is taken once in each step, after all that it reads and all that reads what it writes",
          "[short]") {
  constexpr index_t rows = 30007, tile = 64;
  for (const index_t reach : {0, 1, 100, 5000, 30006})
    for (const int count : {1, 2, 3, 5})
      for (const int domains : {1, 2, 3, 8, 100}) {
        CAPTURE(reach, count, domains);
        const SpmmSteps s = spmm_steps_of(rows, reach, tile, domains).of(count);
        REQUIRE(s.tiles * tile >= rows);
        std::vector<index_t> when(static_cast<std::size_t>(count * s.tiles), -1);  // the turn of each item
        const auto at = [&](int step, index_t t) -> index_t& {
          return when[static_cast<std::size_t>(step * s.tiles + t)];
        };
        for (int d = 0; d < domains; ++d)
          for (index_t place = 0; place < s.places(d); ++place) {
            const auto item = s.item(d, place);
            if (item.tile < 0) continue;
            REQUIRE((item.tile < s.tiles && at(item.step, item.tile) == -1));
            at(item.step, item.tile) = place / count;
          }
        bool all = true, waits = true;
        for (int step = 0; step < count; ++step)
          for (index_t t = 0; t < s.tiles; ++t) {
            all = all && at(step, t) >= 0;
            const index_t first = std::max<index_t>(t - s.reach, 0), last = std::min(t + s.reach, s.tiles - 1);
            waits = waits && first * tile <= std::max<index_t>(t * tile - reach, 0) &&
                    (last + 1) * tile >= std::min((t + 1) * tile + reach, rows);
            // Whatever is waited for has an earlier turn, in whichever domain: somebody can always go on.
            for (index_t near = first; step > 0 && near <= last; ++near)
              waits = waits && at(step - 1, near) < at(step, t);
          }
        CHECK(all);
        CHECK(waits);
      }
}
