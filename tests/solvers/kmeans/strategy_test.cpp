#include "tallskinny/solvers/kmeans/strategy_detail.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;
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
      {100000, 128, 1000, PassFilter::rows, PassFilter::groups},
      {100000, 256, 4000, PassFilter::none, PassFilter::groups},
      {100000, 512, 16, PassFilter::none, PassFilter::none},
      {100000, 512, 100, PassFilter::none, PassFilter::groups},
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
  PassStrategy off({.rows = 100000, .all_rows = 100000, .costs = {512, 100, {}}, .bounds = false}, Scores::int8);
  CHECK(off.choose(5, 300, 0) == PassFilter::none);
  PassStrategy device({.rows = 100000, .all_rows = 100000, .costs = {512, 100, {}}, .host = false}, Scores::int8);
  CHECK(device.choose(0, 300, 0) == PassFilter::rows);  // whatever the processor beside it has
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
    all.coarse = n * k, all.met = n * k;
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

TEST_CASE("what could not be made is not tried again", "[kmeans]") {
  PassStrategy strategy = strategy_for(100000, 512, 100);
  REQUIRE(strategy.choose(1, 50, 100000) == PassFilter::groups);
  strategy.refuse();
  CHECK(strategy.filter() == PassFilter::none);
  CHECK(strategy.choose(2, 49, 1) == PassFilter::none);
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
