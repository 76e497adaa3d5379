#include "tallskinny/solvers/eigen/values/result.hpp"

#include <limits>

#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::solvers;

TEST_CASE("the fraction that is told counts decades before any pair has converged", "[eigen][progress]") {
  std::vector<double> fractions;
  std::vector<HistoryEntry> history;
  EigenOptions options;
  options.progress = [&](const Progress& p) { fractions.push_back(p.fraction); };
  const auto look = [&](std::vector<double> ratios) {
    return note_look({}, std::move(ratios), false, options, 100, 2, history);
  };
  CHECK(look({1e8, 1e8}) == 0);
  CHECK(look({1e4, 1e8}) == 0);
  CHECK(look({0.5, 1e6}) == 1);
  CHECK(look({0.5, 1e9}) == 1);  // a new largest one
  CHECK(look({1e9, std::numeric_limits<double>::infinity()}) == 0);
  CHECK(look({0.5, 1}) == 2);
  const std::vector<double> expected = {0, 0.25, 0.625, 0.5, 0, 1};
  REQUIRE(fractions.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(fractions[i] == Approx(expected[i]).margin(test::allowed::many_steps));
}
