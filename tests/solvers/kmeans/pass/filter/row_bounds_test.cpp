#include "tallskinny/solvers/kmeans/pass/filter/row_bounds.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/host_rows.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// Labels of a few passes with centroids that move, some of them copies or equally near, all passes with the
/// same bounds; each pass must find what a pass of its own finds.
void check_bounds(const Rows& rows, index_t k, bool with_copies) {
  const auto moments = column_moments({}, rows);
  const auto n = static_cast<std::size_t>(rows.rows());
  const FixedPoint unit(moments.max_abs, 1, rows.rows());
  for (const Simd simd : instructions())
    for (const Scores scores : exact_scores) {
      Context ctx{.threads = 2, .simd = simd};
      RowBounds bounds(rows.rows());
      ClusterSums sums(k, rows.cols()), plain(k, rows.cols());
      std::vector<std::int32_t> labels(n, -1), expected(n, -1);
      AssignStats all;
      for (int step = 0; step < 9; ++step) {
        auto c = centres(k, rows.cols(), 0.02 * step * (step < 5 ? 1.0 : 0.01));
        for (index_t j = 0; j < rows.cols(); ++j) {
          if (step > 6) c(1, j) += 0.7 * number(step, j);  // one moves far, and would win rows from the others
          if (with_copies && step % 3 == 1) c(k - 1, j) = c(0, j);
        }
        bounds.begin_pass(ctx, c.cview(), moments);
        AssignStats stats;
        // In two blocks, as data that comes in blocks is assigned.
        const index_t half = rows.rows() / 2 / 4096 * 4096 + rows.rows() / 3;
        for (const auto& [first, count] : {std::pair{index_t{0}, half}, {half, rows.rows() - half}}) {
          const auto from = static_cast<std::size_t>(first), many = static_cast<std::size_t>(count);
          AssignArguments of{rows.block(first, count), moments, c.cview(), scores};
          of.labels = std::span(labels).subspan(from, many), of.unit = &unit, of.sums = &sums,
          of.bounds = {&bounds, first};
          stats += assign(ctx, of);
        }
        const AssignStats without = assign(ctx, {rows, moments, c.cview(), scores, expected, {}, &unit, &plain});
        REQUIRE(labels == expected);
        CHECK(stats.changed == without.changed);
        all += stats;
        bool equal = true;
        for (index_t m = 0; m < k; ++m) equal = equal && sums.count(m) == plain.count(m);
        REQUIRE(equal);
      }
      CHECK(all.skipped > 0);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("bounds skip rows and change no label", "[assign]", double, float, float16, bfloat16) {
  check_bounds(Rows(points<TestType>(800, 5).cview()), 6, false);
  check_bounds(Rows(points<TestType>(500, 17).cview()), 20, true);
  Matrix<TestType> repeated = points<TestType>(900, 3);  // duplicates and ties
  for (index_t i = 0; i < 900; ++i)
    for (index_t j = 0; j < 3; ++j) repeated(i, j) = narrowed<TestType>(number(i % 7, j));
  check_bounds(Rows(repeated.cview()), 5, true);
  check_bounds(Rows(points<TestType>(50, 2).cview()), 1, false);
}

TEST_CASE("bounds of sparse and of scaled rows", "[assign]") {
  auto sparse = csr_by_rows<double>(800, 30, [&](index_t i, auto add) {
    for (index_t j = i % 3; j < 30; j += 1 + (i * j) % 5) add(j, number(i, j));
  });
  check_bounds(Rows(sparse.view()), 9, true);
  const auto x = points<float>(800, 9);
  std::vector<double> scale(800);
  for (index_t i = 0; i < 800; ++i) scale[static_cast<std::size_t>(i)] = 1.5 + number(i, 77);
  check_bounds(Rows(x.cview()).scaled(scale), 9, false);
}
