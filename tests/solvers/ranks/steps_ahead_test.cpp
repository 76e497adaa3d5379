// Several steps of a recurrence on ranks: which rows get ahead, and that bits are those of one rank.
#include "tallskinny/solvers/ranks/steps_ahead.hpp"

#include <mutex>

#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/solvers/ranks/csr_rows.hpp"
#include "tallskinny/tests/solvers/ranks/by_rows.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;
using namespace ts::test;

namespace {

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
        Context one = of_one();
        one.determinism = level;
        const Matrix<T> whole = after_steps<T>(one, CsrOperator<T>(a.view()), q, count);
        for (const RowSlabs& slabs : distributions_of(a.rows)) {
          CAPTURE(q, count, slabs.slabs());
          CHECK(message_of([&] {
                  run_on_threads(slabs.slabs(), [&](const Shared& c) {
                    Context ctx = of_rank(c, slabs, 1 + c->rank() % 2);
                    ctx.determinism = level;
                    const index_t first = slabs.begin(c->rank());
                    CsrRows<T> rows(ctx, rows_of<std::int32_t>(a, first, slabs.rows(c->rank())));
                    if (slabs.slabs() == 2) {
                      const std::scoped_lock lock(mutex);
                      seen = std::max(seen, rows.ahead().count());
                    }
                    expect(same_rows(whole, first, after_steps<T>(ctx, std::move(rows), q, count)), "other bits");
                  });
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
  // What bound rows read must not be more than a step ahead.
  CHECK(ahead_of(100, 3, {0}, {50}).of_step[1] == StepRows{51, 100});
  // Nothing is ahead: rows are bound everywhere, or there are none.
  CHECK(ahead_of(4, 1, {0, 1, 2, 3}, {}) == StepsAhead{4, {{0, 4}}});
  CHECK(ahead_of(0, 1, {}, {}) == StepsAhead{0, {{0, 0}}});
  CHECK(ahead_of(0, 1, {}, {}).passes() == 1);
}
