#include "tallskinny/gemm/assign/sums/cluster_sums.hpp"

#include "tallskinny/tests/gemm/assign/host_rows.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using namespace ts::test;

TEST_CASE("rows that change their label are moved without drift", "[assign]") {
  const index_t n = 400, d = 6, k = 5;
  const auto x = points<float>(n, d, 3);
  std::vector<double> weights(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) weights[static_cast<std::size_t>(i)] = std::abs(number(i, 99)) * 1e3;
  const Rows rows(x.cview());
  const auto moments = column_moments({}, rows);
  const FixedPoint unit(moments.reach, 1e3, n);
  ClusterSums sums(k, d);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(n), -1);
  for (int step = 0; step < 20; ++step) {
    Context ctx;
    ctx.threads = 1 + step % 3;
    const auto c = centres(k, d, 3 + 0.05 * step);
    assign(ctx, {rows, moments, c.cview(), Scores::float32, labels, weights, &unit, &sums});
    ClusterSums fresh(k, d);
    std::vector<std::int32_t> none(static_cast<std::size_t>(n), -1);
    assign({}, {rows, moments, c.cview(), Scores::float32, none, weights, &unit, &fresh});
    REQUIRE(none == labels);
    for (index_t m = 0; m < k; ++m) {
      REQUIRE(sums.count(m) == fresh.count(m));
      REQUIRE(sums.weight(unit, m) == fresh.weight(unit, m));
      for (index_t j = 0; j < d && !sums.weightless(m); ++j) REQUIRE(sums.mean(unit, m, j) == fresh.mean(unit, m, j));
    }
  }
}

TEST_CASE("fixed-point sums keep what float64 sums would lose", "[assign]") {
  const std::vector<double> reach = {1e6};
  const FixedPoint unit(reach, 1, 3);
  ClusterSums sums(1, 1);
  const double values[] = {1e6, 1e-10, -1e6};
  for (const double v : values) sums.add(unit, 0, &v, 1);
  CHECK(sums.mean(unit, 0, 0) == Approx(1e-10 / 3).epsilon(allowed::two_digits));
  for (const double v : values) sums.add(unit, 0, &v, 1, true);
  CHECK(sums.weightless(0));
  CHECK(sums.count(0) == 0);
}
