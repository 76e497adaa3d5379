#include "tallskinny/solvers/eigen/hermitian/sides.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;
using Indices = std::vector<index_t>;

TEST_CASE("with a target, LA, SA and BE ask for its sides, and LM for what is nearest") {
  const auto with = [](Which which) {
    EigenOptions o;
    o.which = which;
    return o;
  };
  for (const Which which : {Which::LA, Which::SA, Which::BE}) {
    CHECK(seeks_sides(with(which), 1.0));
    CHECK_FALSE(seeks_sides(with(which), {}));
    CHECK_FALSE(seeks_nearest(with(which), 1.0));
  }
  CHECK(seeks_nearest(with(Which::LM), 1.0));
  CHECK_FALSE(seeks_nearest(with(Which::LM), {}));
  CHECK(seeks_nearest(with(Which::SM), {}));
  CHECK(sides_of(Which::LA, 5).high == 5);
  CHECK(sides_of(Which::SA, 5).low == 5);
  CHECK((sides_of(Which::BE, 5).low == 2 && sides_of(Which::BE, 5).high == 3));
}

TEST_CASE("the nearest values on each side of a target, which itself is taken once") {
  const std::vector<double> rising = {-3, -1, 0, 0, 2, 5};
  CHECK(nearest_on_sides(rising, 0.5, {2, 1}, 0) == Indices{2, 3, 4});
  CHECK(nearest_on_sides(rising, 0, {0, 3}, 0.1) == Indices{2, 3, 4});
  CHECK(nearest_on_sides(rising, 0, {3, 0}, 0.1) == Indices{1, 2, 3});
  CHECK(nearest_on_sides(rising, 0, {1, 1}, 0.1) == Indices{1, 2});
  CHECK(nearest_on_sides(rising, 4, {1, 9}, 0) == Indices{4, 5});  // no more lie there
}
