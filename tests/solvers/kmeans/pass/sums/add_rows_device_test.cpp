// Sums of rows that change their cluster on a GPU: the same bits as in host memory.
#include "tallskinny/tests/solvers/kmeans/pass/device_rows.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// Sums and changes after each of some passes.
struct Steps {
  std::vector<std::vector<double>> sums;
  std::vector<index_t> changed;
};

/// All rows come from nowhere, none moves, few do, and all; then the sums of the last labels from scratch,
/// some rows left out.
Steps moves(const Context& ctx, const Rows& x, const Case& c, const Matrix<double>& centroids,
            const std::vector<double>& weights) {
  const auto moments = column_moments(ctx, x);
  const double heaviest = weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
  const FixedPoint unit(moments.max_abs, heaviest, x.rows());
  ClusterSums sums(c.k, c.d);
  PerRowArray<std::int32_t> labels(ctx, x.space(), std::vector<std::int32_t>(static_cast<std::size_t>(c.n), -1));
  const PerRowArray<double> weigh(ctx, x.space(), weights);
  Steps steps;
  const auto pass = [&](const Matrix<double>& now) {
    const AssignStats stats =
        assign(ctx, {x, moments, now.cview(), Scores::float32, labels.view(), weigh.view(), &unit, &sums});
    steps.changed.push_back(stats.changed);
    steps.sums.push_back(numbers_of(sums, unit));
  };
  auto few = Matrix<double>::copy_of(centroids.cview()), reversed = Matrix<double>(c.k, c.d);
  few(c.k / 2, 0) += 0.02 * c.factor;
  for (index_t m = 0; m < c.k; ++m)
    for (index_t j = 0; j < c.d; ++j) reversed(m, j) = centroids(c.k - 1 - m, j);
  pass(centroids), pass(centroids), pass(few), pass(reversed);
  auto some = labels.to_host();
  for (std::size_t i = 0; i < some.size(); i += 7) some[i] = -1;
  const PerRowArray<std::int32_t> given(ctx, x.space(), some);
  ClusterSums added(c.k, c.d);
  add_rows(ctx, x, moments, given.view(), weigh.view(), unit, added);
  steps.sums.push_back(numbers_of(added, unit));
  return steps;
}

template <class T>
void check_moves(const Case& c) {
  INFO(text_of<T>(c));
  const auto [host, device] = host_and_device<T>(c, moves);
  CHECK(device.changed == host.changed);
  for (std::size_t step = 0; step < host.sums.size(); ++step) {
    INFO("step " << step);
    CHECK(device.sums[step] == host.sums[step]);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("on a device, rows that move change sums as they do on the host", "[assign][sanitize][gpu]", double,
                   float, float16, bfloat16) {
  check_moves<TestType>({5000, 20, 70, 0, 1, 128, true});
  check_moves<TestType>({3001, 33, 200, 0.3, 1, 128, true, 5, false, true});
  check_moves<TestType>({2000, 769, 3, 0, 1, 128, true, 0, false, true});
  check_moves<TestType>({2000, 12, 130, 0, 1, 128, true, 0, true, true});       // by columns
  check_moves<TestType>({700, 1, 20, 0, 1, 128, false, 2, false, true, true});  // scaled
  check_moves<TestType>({4001, 512, 1, 0, 1, 128, false, 0, false, true});      // one cluster
}

TEST_CASE("on a device, rows move among many clusters", "[assign][gpu]") {
  check_moves<float>({20000, 24, 5000, 0, 1, 1 << 20, true});
  check_moves<float>({20000, 24, 5000, 0, 1, 1 << 20, true, 0, false, true});
  check_moves<float16>({9000, 130, 5000, 0, 1, 512, true});
  check_moves<double>({9000, 5, 5000, 0, 1, 1 << 20, true, 0, true});
  check_moves<float>({3000, 2, 70000, 0, 1, 1 << 20});  // more than shared memory counts
  check_moves<float>({(1 << 18) + 3, 130, 300, 0, 1, 1 << 20, true});
  check_moves<float>({100, 5, 6, 0, 1e-42});  // factors of columns beyond the range
  check_moves<double>({100, 5, 6, 0, 1e-310});
}
