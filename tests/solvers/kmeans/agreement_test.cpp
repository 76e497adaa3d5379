#include "tallskinny/solvers/kmeans/agreement.hpp"

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

double rand_index(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  return solvers::adjusted_rand_index(Context{}, a, b, 4, 5);
}

}  // namespace

TEST_CASE("the adjusted Rand index: equal clusters, numbers that do not matter, values of scikit-learn") {
  CHECK(rand_index({0, 0, 1, 2}, {0, 0, 1, 2}) == 1);
  CHECK(rand_index({0, 0, 1, 2}, {4, 4, 3, 0}) == 1);
  CHECK(rand_index({0, 0, 0}, {1, 1, 1}) == 1);
  CHECK(rand_index({}, {}) == 1);
  // sklearn.metrics.adjusted_rand_score
  CHECK(rand_index({0, 0, 1, 1}, {0, 0, 1, 2}) == Approx(0.5714285714285714));
  CHECK(rand_index({0, 0, 1, 1}, {0, 1, 0, 1}) == Approx(-0.5));
  CHECK(rand_index({0, 0, 0, 0}, {0, 1, 2, 3}) == 0);
  CHECK_THROWS_AS(rand_index({0}, {5}), Error);
  CHECK_THROWS_AS(rand_index({0, 1}, {0}), Error);
}
