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

void pass(PassStrategy& strategy, const AssignStats& stats, bool held = false) {
  strategy.passed(stats, stats, held, 64);
}

}  // namespace

TEST_CASE("the shape of the rows chooses the filter of the second pass", "[kmeans]") {
  struct {
    index_t rows, cols, clusters;
    PassFilter first, second;
  } const table[] = {
      {100000, 8, 100, PassFilter::rows, PassFilter::rows},
      {100000, 64, 16, PassFilter::rows, PassFilter::rows},
      {100000, 128, 1000, PassFilter::rows, PassFilter::heads},
      {100000, 256, 4000, PassFilter::none, PassFilter::heads},
      {100000, 512, 16, PassFilter::none, PassFilter::none},
      {100000, 512, 100, PassFilter::none, PassFilter::pairs},
      {80000, 512, 700, PassFilter::none, PassFilter::pairs},
      {100000, 768, 1000, PassFilter::none, PassFilter::pairs},
      {100000, 768, 4000, PassFilter::none, PassFilter::heads},
      {1000, 512, 100, PassFilter::none, PassFilter::none},
  };
  for (const auto& [rows, cols, clusters, first, second] : table) {
    INFO(rows << " x " << cols << ", " << clusters << " clusters");
    PassStrategy strategy = strategy_for(rows, cols, clusters);
    CHECK(strategy.choose(0, 300, 0) == first);
    pass(strategy, counts(rows));
    CHECK(strategy.choose(1, 299, rows) == second);
    if (second == PassFilter::pairs || second == PassFilter::heads) CHECK(strategy.choose(2, 298, rows) == second);
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

TEST_CASE("a filter that costs as much as a pass without ends", "[kmeans]") {
  constexpr index_t n = 10000, k = 1000;
  for (const index_t cols : {128, 768}) {
    PassStrategy strategy = strategy_for(n, cols, k);
    const PassFilter filter = strategy.choose(1, 50, n);
    AssignStats few = counts(n / 2), all = few;
    few.headed = n * k / 5;
    all.headed = n * k, all.met = n * k / 3;
    pass(strategy, few);
    CHECK(strategy.choose(2, 49, n / 2) == filter);
    pass(strategy, all);
    CHECK(strategy.choose(3, 48, n / 2) != filter);
    CHECK(strategy.choose(4, 47, 1) != filter);
  }
}

TEST_CASE("what could not be made: pairs never again, heads when half, an eighth, a 32nd as many labels change") {
  constexpr index_t n = 100000;
  PassStrategy pairs = strategy_for(n, 512, 100), heads = strategy_for(n, 128, 1000);
  REQUIRE(pairs.choose(1, 50, n) == PassFilter::pairs);
  pairs.refuse(n);
  CHECK(pairs.filter() == PassFilter::none);
  CHECK(pairs.choose(2, 49, 1) == PassFilter::none);
  index_t changed = 6400;
  for (const index_t factor : {2, 8, 32}) {
    REQUIRE(heads.choose(1, 50, changed) == PassFilter::heads);
    heads.refuse(6400);
    CHECK(heads.filter() == PassFilter::rows);
    CHECK(heads.choose(2, 49, 6400 / factor + 1) == PassFilter::rows);
    changed = 6400 / factor;
  }
  CHECK(heads.choose(3, 48, changed) == PassFilter::heads);
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

TEST_CASE("scores rise where too many rows are decided again, and float64 has no heads", "[kmeans]") {
  PassStrategy strategy = strategy_for(8000, 128, 1000);
  REQUIRE(strategy.choose(1, 50, 8000) == PassFilter::heads);
  AssignStats stats = counts(8000);
  stats.rescored = 1001;
  pass(strategy, stats);
  CHECK(strategy.scores() == Scores::float32);
  CHECK(strategy.filter() == PassFilter::heads);
  stats.rescored = 2001;
  pass(strategy, stats);
  CHECK(strategy.scores() == Scores::float64);
  CHECK(strategy.choose(2, 49, 8000) == PassFilter::rows);
}
