// Entries that change ranks, against the whole matrix on one rank, bit for bit.
#include "tallskinny/solvers/ranks/transposed_rows.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/solvers/ranks/csr_rows.hpp"
#include "tallskinny/solvers/ranks/steps_ahead.hpp"
#include "tallskinny/tests/solvers/ranks/by_rows.hpp"

using namespace ts::solvers;

namespace {

enum class Part { all, lower, upper };

/// Columns anywhere, ascending; some rows are empty, others have entries in many columns.
template <class T>
CsrMatrix<T> scattered(index_t n, Part part) {
  return csr_by_rows<T>(n, n, [&](index_t i, auto add) {
    const index_t apart = i % 100 == 50 ? 3 : 97;
    for (index_t j = (i * 31) % apart; i % 5 != 3 && j < n; j += apart) {
      if ((part == Part::lower && j > i) || (part == Part::upper && j < i)) continue;
      const double value = 1.0 / static_cast<double>(2 + (i * 7 + j * 5) % 89);
      add(j, element<T>(value, i == j ? 0 : 1 - value));
    }
  });
}

/// make(ctx, own rows) on all ranks gives rows of `expected`.
template <class T, class Make>
void check_on_ranks(const CsrMatrix<T>& a, const CsrMatrix<T>& expected, const Make& make) {
  for (const RowSlabs& slabs : distributions_of(a.rows)) {
    CAPTURE(slabs.slabs());
    CHECK(on_slabs(Context{}, slabs, [&](const Context& ctx) {
            expect(same(make(ctx, own_rows(a, ctx).view()), own_rows(expected, ctx)), "other rows");
          }) == "");
  }
}

/// X beside Y after `count` steps.
template <class T>
Matrix<T> after_steps(const Context& ctx, const Operator<T>& op, index_t q, index_t count) {
  Matrix<T> both(op.rows(), 2 * q);
  ts::fill_random<T>(ctx, Philox{3, 1}, both.view(), first_row(ctx));
  expect(op.recurrence(ctx, count, 0.25, 0.5, both.view().cols(0, q), -1.0, both.view().cols(q, q)), "no steps");
  return both;
}

/// @param most the steps that one of two ranks takes together.
template <class T>
void check_steps(const CsrMatrix<T>& a, const std::vector<index_t>& widths, index_t most) {
  std::mutex mutex;
  index_t seen = 0;
  for (const Determinism level : {Determinism::run_to_run, Determinism::gpu_to_gpu})
    for (const index_t q : widths)
      for (const index_t count : {1, 2, 5, 8, 9, 20}) {
        Context one = one_rank();
        one.determinism = level;
        const Matrix<T> whole = after_steps<T>(one, CsrOperator<T>(a.view()), q, count);
        for (const RowSlabs& slabs : distributions_of(a.rows)) {
          CAPTURE(q, count, slabs.slabs());
          CHECK(on_slabs(one, slabs, [&](Context ctx) {
                  ctx.threads = 1 + ctx.communicator->rank() % 2;
                  CsrRows<T> rows(ctx, own_rows(a, ctx));
                  if (slabs.slabs() == 2) {
                    const std::scoped_lock lock(mutex);
                    seen = std::max(seen, rows.ahead().count());
                  }
                  const index_t first = first_row(ctx);
                  expect(same_rows(whole, first, after_steps<T>(ctx, std::move(rows), q, count)), "other bits");
                }) == "");
        }
      }
  CHECK(seen == most);
}

/// Columns at these distances from the diagonal.
template <class T>
CsrMatrix<T> with_distances(index_t n, const std::vector<index_t>& distances) {
  return with_columns<T>(n, [&](index_t i) {
    std::vector<index_t> row;
    for (const index_t d : distances)
      if (i + d >= 0 && i + d < n) row.push_back(i + d);
    return row;
  });
}

}  // namespace

TEMPLATE_TEST_CASE("rows of the transposed matrix are those of the whole", "", double, float, std::complex<double>,
                   std::complex<float>) {
  using T = TestType;
  for (const index_t n : {0, 700, 1500}) {
    const CsrMatrix<T> a = scattered<T>(n, Part::all);
    check_on_ranks<T>(a, transposed(a.view()),
                      [](const Context& ctx, const CsrView<T>& own) { return transposed_rows<T>(ctx, own); });
  }
}

TEST_CASE("rows of a dense transposed matrix are those of the whole") {
  for (const index_t n : {0, 1, 700}) {
    const auto value = [](index_t i, index_t j) { return static_cast<double>(1000 * i + j); };
    for (const int ranks : {1, 2, 3, 8})
      CHECK(on_slabs(Context{}, RowSlabs::of_units(n, ranks), [&](const Context& ctx) {
              const index_t first = first_row(ctx), rows = ctx.slabs.rows(ctx.communicator->rank());
              const auto own = matrix_of<double>(rows, n, [&](auto i, auto j) { return value(first + i, j); });
              const auto expected = matrix_of<double>(rows, n, [&](auto i, auto j) { return value(j, first + i); });
              expect(max_difference(transposed_rows<double>(ctx, own.cview()), expected) == 0, "another element");
            }) == "");
  }
}

TEMPLATE_TEST_CASE("ranks make the matrix of a triangle as reading it on one rank does", "", double, float,
                   std::complex<double>, std::complex<float>) {
  using T = TestType;
  for (const auto structure : {io::Structure::symmetric, io::Structure::hermitian})
    for (const auto triangle : {io::Triangle::lower, io::Triangle::upper}) {
      const CsrMatrix<T> a = scattered<T>(900, triangle == io::Triangle::lower ? Part::lower : Part::upper);
      check_on_ranks<T>(a, io::mirrored(CsrMatrix<T>(a), structure, triangle, io::Subject{"a"}),
                        [&](const Context& ctx, const CsrView<T>& own) {
                          return mirrored_rows<T>(ctx, own, [&](T x) { return io::mirror_image(x, structure); });
                        });
    }
}

TEST_CASE("columns beyond the matrix are refused before ranks exchange anything") {
  CsrMatrix<double> a = scattered<double>(700, Part::all);
  a.indices[5] = -1;
  CHECK(mentions(message_of([&] { (void)transposed_rows<double>(Context{}, a.view()); }), "beyond its columns"));
}

// Several steps of a recurrence on ranks: which rows get ahead, and that bits are those of one rank.

TEMPLATE_TEST_CASE("steps ahead of other ranks have the bits of one rank", "", double, float, std::complex<double>,
                   std::complex<float>) {
  check_steps(grid<TestType>(120), {1, 3}, 8);
  check_steps(with_distances<TestType>(6000, {-900, -1, 0, 1, 900}), {3}, 2);  // halos of several ranks
}

TEST_CASE("steps ahead where a matrix is not symmetric, wraps around, or has rows that all need") {
  check_steps(with_distances<double>(6000, {-300, -7, 0}), {2}, 4);
  check_steps(with_distances<double>(6000, {0, 7, 300}), {2}, 4);
  check_steps(with_distances<double>(6000, {-5990, -10, 0, 10, 5990}), {2}, 8);
  check_steps(with_hub<double>(3000, 700), {2}, 1);
  check_steps(scattered<double>(1900), {2}, 1);
}

TEST_CASE("which rows are how many steps ahead") {
  const auto ahead_of = [](index_t n, index_t reach, const std::vector<std::int32_t>& bound,
                           const std::vector<std::int32_t>& read) {
    return steps_ahead(with_distances<double>(n, {-reach, 0, reach}).view(), bound, read);
  };
  // A rank alone, and one with a neighbour behind each end.
  CHECK(ahead_of(100, 3, {}, {}) == StepsAhead{100, std::vector<StepRows>(8, {0, 100})});
  CHECK(ahead_of(100, 3, {}, {}).passes() == 0.125);
  const StepsAhead both = ahead_of(100, 3, {0, 1, 2, 97, 98, 99}, {3, 4, 5, 94, 95, 96});
  CHECK(both == StepsAhead{100, {{3, 97}, {6, 94}, {9, 91}, {12, 88}, {15, 85}, {18, 82}}});
  CHECK(both.passes() == (100.0 + 12 + 18 + 24 + 30 + 36) / 600);
  CHECK(to_text(both) == "6 steps in one pass of 100 rows, 3 to 97, 6 to 94, 9 to 91, 12 to 88, 15 to 85, 18 to 82");
  // Rows that bound rows read must not be more than a step ahead.
  CHECK(ahead_of(100, 3, {0}, {50}).of_step[1] == StepRows{51, 100});
  // Nothing is ahead: rows are bound everywhere, or there are none.
  CHECK(ahead_of(4, 1, {0, 1, 2, 3}, {}) == StepsAhead{4, {{0, 4}}});
  CHECK(ahead_of(0, 1, {}, {}) == StepsAhead{0, {{0, 0}}});
  CHECK(ahead_of(0, 1, {}, {}).passes() == 1);
}
