#include "tallskinny/solvers/kmeans/strategy_detail.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;
using namespace ts::solvers::kmeans_detail;

namespace {

PassStrategy strategy_for(index_t rows, index_t cols, index_t clusters, const assign_cpu::ProductCosts& costs = {}) {
  return {{.rows = rows, .all_rows = rows, .costs = {cols, clusters, costs}}, Scores::int8};
}

AssignStats counts(index_t changed, index_t skipped = 0) {
  AssignStats stats;
  stats.changed = changed, stats.skipped = skipped;
  return stats;
}

void pass(PassStrategy& strategy, const AssignStats& stats, bool held = false) { strategy.passed(stats, stats, held); }

}  // namespace

TEST_CASE("the shape of the rows chooses the filter of the second pass", "[kmeans]") {
  struct {
    index_t rows, cols, clusters;
    PassFilter first, second;
  } const table[] = {
      {100000, 8, 100, PassFilter::rows, PassFilter::rows},
      {100000, 64, 16, PassFilter::rows, PassFilter::rows},
      {100000, 2, 8, PassFilter::none, PassFilter::none},
      {100000, 48, 256, PassFilter::rows, PassFilter::rows},
      {50000, 128, 128, PassFilter::rows, PassFilter::rows},
      {200000, 128, 256, PassFilter::rows, PassFilter::groups},
      {10000, 3072, 50, PassFilter::none, PassFilter::none},
      {10000, 512, 40, PassFilter::none, PassFilter::none},
      {100000, 128, 1000, PassFilter::rows, PassFilter::groups},
      {100000, 256, 4000, PassFilter::none, PassFilter::groups},
      {100000, 512, 16, PassFilter::none, PassFilter::none},
      {100000, 512, 100, PassFilter::none, PassFilter::none},
      {80000, 512, 700, PassFilter::none, PassFilter::groups},
      {100000, 768, 1000, PassFilter::none, PassFilter::groups},
      {100000, 768, 4000, PassFilter::none, PassFilter::groups},
      {1000, 512, 100, PassFilter::none, PassFilter::none},
  };
  for (const auto& [rows, cols, clusters, first, second] : table) {
    INFO(rows << " x " << cols << ", " << clusters << " clusters");
    PassStrategy strategy = strategy_for(rows, cols, clusters);
    CHECK(strategy.choose(0, 300, 0) == first);
    pass(strategy, counts(rows));
    CHECK(strategy.choose(1, 299, rows) == second);
    if (second == PassFilter::groups) CHECK(strategy.choose(2, 298, rows) == second);
  }
}

TEST_CASE("no filter without bounds, for rows that pass by, or for few passes", "[kmeans]") {
  PassStrategy off({.rows = 100000, .all_rows = 100000, .costs = {512, 100, {}}, .filter = KMeansFilter::none},
                   Scores::int8);
  CHECK(off.choose(5, 300, 0) == PassFilter::none);
  PassStrategy streamed({.rows = 100000, .all_rows = 100000, .costs = {512, 100, {}}, .in_memory = false},
                        Scores::int8);
  CHECK(streamed.choose(5, 300, 100000) == PassFilter::none);
  CHECK(strategy_for(100000, 512, 100).choose(1, 3, 100000) == PassFilter::none);
}

TEST_CASE("a filter ends once it has cost a tenth of a run, and is tried again for fewer changes", "[kmeans]") {
  constexpr index_t n = 10000, k = 1000;
  for (const index_t cols : {128, 768}) {
    PassStrategy strategy = strategy_for(n, cols, k);
    REQUIRE(strategy.choose(1, 50, n) == PassFilter::groups);
    AssignStats few = counts(n / 2), all = few;
    few.coarse = n * k / 5;
    all.coarse = n * k, all.scored = n * k;
    for (int pass_number = 2; pass_number < 10; ++pass_number) {
      pass(strategy, few);
      CHECK(strategy.choose(pass_number, 50, n / 2) == PassFilter::groups);
    }
    pass(strategy, all);
    if (strategy.choose(10, 50, n / 2) == PassFilter::groups) pass(strategy, all);
    CHECK(strategy.choose(11, 50, n / 2) != PassFilter::groups);
    CHECK(strategy.choose(12, 50, n / 4) != PassFilter::groups);
    // The budget grows with the passes that were made.
    CHECK(strategy.choose(300, 50, n / 4 + 1) != PassFilter::groups);
    CHECK(strategy.choose(300, 50, n / 4) == PassFilter::groups);
  }
}

TEST_CASE("bounds of wide rows wait for few changes, and rest where they leave less than 0.4 of the rows alone") {
  PassStrategy wide = strategy_for(1000, 1000, 1000);
  const auto next = [&](const AssignStats& stats, bool held = false) {
    pass(wide, stats, held);
    return wide.choose(1, 50, stats.changed);
  };
  CHECK(wide.choose(0, 50, 0) == PassFilter::none);
  CHECK(next(counts(51)) == PassFilter::none);
  CHECK(next(counts(50)) == PassFilter::rows);
  CHECK(next(counts(40, 400), true) == PassFilter::rows);
  CHECK(next(counts(40, 399), true) == PassFilter::none);
  CHECK(next(counts(20)) == PassFilter::rows);
}

TEST_CASE("scores rise where too many rows are decided again, and float64 has no bounds of groups", "[kmeans]") {
  PassStrategy strategy = strategy_for(8000, 128, 1000);
  REQUIRE(strategy.choose(1, 50, 8000) == PassFilter::groups);
  AssignStats stats = counts(8000);
  stats.rescored = 1001;
  pass(strategy, stats);
  CHECK(strategy.scores() == Scores::float32);
  CHECK(strategy.filter() == PassFilter::groups);
  stats.rescored = 2001;
  pass(strategy, stats);
  CHECK(strategy.scores() == Scores::float64);
  CHECK(strategy.choose(2, 49, 8000) == PassFilter::rows);
}

// On a device: what is offered is used, by counts, within a budget.

namespace {

constexpr index_t rows_there = 1 << 20, clusters_there = 4096;
/// A pass with projections that leave 0.1 takes 5.
constexpr FilterCosts costs_there{.all = 10, .projections = 3, .by_projections = 20, .bounds = 1, .by_bounds = 20};

PassStrategy there(const FilterCosts& costs, KMeansFilter filter = KMeansFilter::automatic) {
  PassStrategy strategy(
      {.rows = rows_there, .all_rows = rows_there, .costs = {768, clusters_there, {}}, .filter = filter, .host = false},
      Scores::int8);
  strategy.offer(costs);
  return strategy;
}

/// A pass that used what was chosen, left this share of all pairs, and changed so many labels.
PassFilter use(PassStrategy& strategy, int done, double share, index_t changed, int left = 50) {
  const PassFilter filter = strategy.choose(done, left, changed);
  AssignStats stats = counts(changed);
  stats.filter = filter;
  if (filter != PassFilter::none)
    stats.scored = static_cast<index_t>(share * static_cast<double>(rows_there * clusters_there));
  pass(strategy, stats);
  return filter;
}

}  // namespace

TEST_CASE("on a device projections serve until few labels change, then bounds of tiles", "[kmeans]") {
  PassStrategy strategy = there(costs_there);
  CHECK(use(strategy, 1, 0.3, rows_there) == PassFilter::projection);
  CHECK(use(strategy, 2, 0.1, rows_there / 4) == PassFilter::projection);
  CHECK(use(strategy, 3, 0.3, rows_there / 16) == PassFilter::tiles);
  for (int done = 4; done < 20; ++done) CHECK(use(strategy, done, 0.05, rows_there / 32) == PassFilter::tiles);
  // Not for the last few passes.
  PassStrategy late = there(costs_there);
  CHECK(use(late, 3, 0.1, 1, 5) == PassFilter::projection);
}

TEST_CASE("on a device filters end that cost a tenth of a run, until fewer labels change", "[kmeans]") {
  PassStrategy strategy = there(costs_there);
  CHECK(use(strategy, 3, 1, rows_there / 16) == PassFilter::tiles);
  int done = 4;
  while (use(strategy, done, 1, rows_there / 16) == PassFilter::tiles) ++done;
  CHECK(done < 8);
  CHECK(strategy.filter() == PassFilter::projection);
  for (int more = 0; more < 10 && strategy.filter() == PassFilter::projection; ++more)
    use(strategy, ++done, 1, rows_there / 16);
  CHECK(strategy.filter() == PassFilter::none);
  CHECK(use(strategy, 200, 0.05, rows_there / 32) != PassFilter::none);
}

TEST_CASE("on a device a filter that is asked for is used whatever it costs, and no other", "[kmeans]") {
  constexpr FilterCosts projections{.all = 10, .projections = 3, .by_projections = 20},
      bounds{.all = 10, .bounds = 1, .by_bounds = 20};
  PassStrategy projects = there(projections, KMeansFilter::projection), bounded = there(bounds, KMeansFilter::bounds),
               none = there(costs_there, KMeansFilter::none);
  for (int done = 1; done < 40; ++done) {
    CHECK(use(projects, done, 1, rows_there) == PassFilter::projection);
    CHECK(use(bounded, done, 1, rows_there) == PassFilter::tiles);
    CHECK(use(none, done, 1, 0) == PassFilter::none);
  }
}
