// More than 2^24 points in a cluster: float32 counters and sums stop growing there.
#include "tallskinny/tests/solvers/kmeans/runs.hpp"

using namespace ts;
using namespace ts::solvers;

TEST_CASE("a cluster of more than 2^24 points keeps its mean and its count", "[kmeans][large]") {
  const index_t n = (index_t{1} << 24) + 1000003;
  Matrix<bfloat16> x(n, 1);
  for (index_t i = 0; i < n; ++i) x(i, 0) = to_bfloat16(static_cast<float>(i % 4));
  double sum = 0;
  for (index_t i = 0; i < n; ++i) sum += static_cast<double>(i % 4);
  KMeansOptions o{.clusters = 1, .init = KMeansInit::random};
  const KMeansResult r = kmeans({}, Rows(x.view()), o);
  CHECK(r.sizes == std::vector<index_t>{n});
  CHECK(r.centers(0, 0) == Approx(sum / static_cast<double>(n)).epsilon(test::allowed::last_place));
  CHECK(r.inertia / static_cast<double>(n) == Approx(1.25).epsilon(test::allowed::six_digits));
}
