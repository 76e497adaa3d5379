// When passes choose centroids by bounds of tiles: never where counts say that it costs more.
#include "tallskinny/gemm/assign/scores/bounds_trials.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using assign_device::BoundsTrials;
using assign_device::ChoosingCosts;
using Turn = BoundsTrials::Turn;

namespace {

/// A pass by heads that leaves 0.1 takes 5.
constexpr ChoosingCosts costs{.all = 10, .heads = 3, .by_heads = 20, .bounds = 1, .by_bounds = 20};

/// Up to a probe that has found what bounds would leave, where heads leave `share`, if any.
void probe(BoundsTrials& trials, double share, double left) {
  CHECK(trials.next(0.3) == Turn::without);
  trials.passed_without(share);
  CHECK(trials.next(0.07) == Turn::probe);
  trials.passed_without(share);
  trials.probed(left);
}

}  // namespace

TEST_CASE("bounds of tiles begin after a probe that pays", "[assign][bounds]") {
  BoundsTrials trials(costs, 10);
  probe(trials, 0.1, 0.05);
  CHECK_FALSE(trials.known());
  CHECK(trials.next(0.06) == Turn::make);
  trials.made();
  for (int pass = 0; pass < 20; ++pass) {  // also behind the last one that was foreseen
    CHECK(trials.next(0.06) == Turn::use);
    trials.used(0.05);
  }
}

TEST_CASE("bounds of tiles end where they leave too much, and are tried again once half as many labels change",
          "[assign][bounds]") {
  BoundsTrials trials(costs, 100);
  probe(trials, 0.1, 0.05);
  CHECK(trials.next(0.06) == Turn::make);
  trials.made();
  CHECK(trials.next(0.04) == Turn::use);
  trials.used(0.9);
  CHECK(trials.next(0.03) == Turn::without);
  trials.passed_without(0.1);
  CHECK(trials.next(0.02) == Turn::probe);
  trials.passed_without(0.1);
  trials.probed(0.25);  // 6
  CHECK(trials.next(0.01) == Turn::without);
  trials.passed_without(0.1);
  CHECK(trials.next(0.002) == Turn::probe);
}

TEST_CASE("bounds of tiles may cost a little more for some passes, not for three", "[assign][bounds]") {
  BoundsTrials trials(costs, 100);
  probe(trials, 0.1, 0.05);
  CHECK(trials.next(0.06) == Turn::make);
  trials.made();
  for (const double left : {0.25, 0.25, 0.15, 0.25, 0.25}) {
    trials.used(left);
    CHECK(trials.known());
  }
  trials.used(0.25);
  CHECK_FALSE(trials.known());
}

TEST_CASE("bounds of tiles do not begin where few passes are left for what the first costs", "[assign][bounds]") {
  const auto begins = [](index_t passes, double share, double left) {
    BoundsTrials trials(costs, passes);
    probe(trials, share, left);
    return trials.next(0.06) == Turn::make;
  };
  // The first takes 3 + 1 + 0.3 * 20 = 10, each other one 3.4 instead of 5, half of which is counted on.
  CHECK(begins(10, 0.1, 0.12));
  CHECK_FALSE(begins(8, 0.1, 0.12));
  // 21 instead of 10 over all centroids, others 7.
  CHECK(begins(8, -1, 0.3));
  // Never where they cost as much.
  CHECK_FALSE(begins(1000, 0.1, 0.2));
  // No probe is made for less than six passes.
  BoundsTrials trials(costs, 6);
  CHECK(trials.next(0.01) == Turn::without);
}

TEST_CASE("bounds of tiles are forgotten with passes over other rows", "[assign][bounds]") {
  BoundsTrials trials(costs, 20);
  probe(trials, 0.1, 0.05);
  trials.forget();
  CHECK(trials.next(0.06) == Turn::probe);
}
