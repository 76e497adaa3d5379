#include "tallskinny/solvers/eigen/hermitian/wanted.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;

namespace {

/// Ritz values 0, 1, 3, 6 and 10, of which one at each end is wanted.
WantedPairs<double> pairs() {
  WantedPairs<double> p;
  p.which = Which::BE, p.ends = {1, 1};
  p.ritz.values = {0, 1, 3, 6, 10}, p.ritz.residuals = {0, 0.25, 0, 0, 0.5};
  p.next_low = 1, p.next_high = 6;
  return p;
}

}  // namespace

TEST_CASE("only a prefix of each end counts as converged") {
  CHECK(converged_in({0.5, 2, 0.5, 1, 1.5}, {3, 2}) == 2);
  CHECK(converged_in({2, 0, 0}, {0, 3}) == 0);
  CHECK(converged_in({1, 1}, {1, 1}) == 2);
}

TEST_CASE("what the wanted pairs leave outside") {
  const auto p = pairs();
  const SpectralTransform none;
  CHECK(p.has_outside());
  CHECK(p.first_low() == 1);
  CHECK(p.first_high() == 3);
  CHECK(p.indices() == std::vector<index_t>{0, 4});
  CHECK(wanted_values(p, none) == std::vector<double>{0, 10});
  CHECK(clearance_of(p, none, 100) == 1);  // from 0 to 1; from 10 to 6 it is farther
  CHECK(next_outside(p, none) == 1);
  CHECK(clearance_of(p, none, 2) == std::numeric_limits<double>::infinity());  // the set is all of them
}

TEST_CASE("copies of the threshold are as near as its residual allows") {
  CHECK(slack_of(pairs(), 0) == 0.5);       // r, as 10 r^2 / gap is larger
  CHECK(slack_of(pairs(), 0.125) == 12.5);  // 100 roundings
}

TEST_CASE("no search is evidence of what nothing random was in, or of nothing outside") {
  const double inf = std::numeric_limits<double>::infinity();
  auto p = pairs();
  CHECK(search_shortfall(p, Acceptance{}, 0, 0) == inf);
  p.ends = {2, 3};
  CHECK(search_shortfall(p, Acceptance{}, 4, 0) == inf);
}
