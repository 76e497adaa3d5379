#include "tallskinny/solvers/eigen/values/selection.hpp"

#include <limits>

#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;
using Indices = std::vector<index_t>;

namespace {
const std::vector<double> values = {-5, -2, 0, 1, 4};

bool is(Ends ends, index_t low, index_t high) { return ends.low == low && ends.high == high; }
}  // namespace

TEST_CASE("the wanted values lie at the ends") {
  CHECK(is(wanted_ends(values, Which::SA, 2), 2, 0));
  CHECK(is(wanted_ends(values, Which::LA, 2), 0, 2));
  CHECK(is(wanted_ends(values, Which::BE, 3), 1, 2));
  CHECK(is(wanted_ends(values, Which::LM, 3), 2, 1));  // -5, 4, -2
  CHECK(wanted_ends(values, Which::SA, 9).total() == 5);
  CHECK(indices_of({1, 2}, 5) == Indices{0, 3, 4});
  CHECK(indices_of({0, 0}, 5).empty());
}

TEST_CASE("a set grows on its open sides, to all values") {
  CHECK(is(grown_ends(values, Which::SA, {1, 0}, 2), 3, 0));
  CHECK(is(grown_ends(values, Which::LA, {0, 1}, 9), 0, 5));
  CHECK(is(grown_ends(values, Which::BE, {1, 1}, 3), 2, 3));
  CHECK(is(grown_ends(values, Which::LM, {1, 0}, 2), 2, 1));  // 4 and -2 come next
}

TEST_CASE("thresholds are the innermost of the wanted values") {
  const double inf = std::numeric_limits<double>::infinity();
  const Thresholds low = thresholds(values, Which::SA, {2, 0}), high = thresholds(values, Which::LA, {0, 2});
  CHECK(low.low == -2);
  CHECK(low.high == inf);
  CHECK(high.low == -inf);
  CHECK(high.high == 1);
}

TEST_CASE("equal values keep their order, and columns follow it") {
  const Indices order = rising_order({3, 1, 2, 1});
  CHECK(order == Indices{1, 3, 2, 0});
  Matrix<double> a(1, 4);
  for (index_t j = 0; j < 4; ++j) a(0, j) = static_cast<double>(j);
  const auto chosen = columns_of(a, order);
  for (index_t j = 0; j < 4; ++j) CHECK(chosen(0, j) == static_cast<double>(order[static_cast<std::size_t>(j)]));
}
