// Passes that expect labels to stay, on a GPU: the same bits as in host memory.
#include "tallskinny/gemm/library/calls.hpp"
#include "tallskinny/tests/solvers/kmeans/pass/device_rows.hpp"

using namespace ts;
using namespace ts::test;

namespace {

/// Labels, sums and changes after passes from labels of several kinds.
struct Passes {
  std::vector<std::vector<std::int32_t>> labels;
  std::vector<std::vector<double>> sums;
  std::vector<index_t> changed;
};

/// The last centroid that equals each.
std::vector<std::int32_t> last_copies(const Matrix<double>& centroids) {
  const index_t k = centroids.rows(), d = centroids.cols();
  std::vector<std::int32_t> last;
  for (index_t m = 0; m < k; ++m) {
    index_t other = k - 1;
    while (!std::equal(centroids.data() + m * d, centroids.data() + (m + 1) * d, centroids.data() + other * d)) --other;
    last.push_back(static_cast<std::int32_t>(other));
  }
  return last;
}

/// Labels to begin with: right, a few wrong, each the last of equal centroids, all wrong, none.
std::vector<std::vector<std::int32_t>> beginnings(const std::vector<std::int32_t>& right,
                                                  const Matrix<double>& centroids) {
  const std::size_t n = right.size(), k = static_cast<std::size_t>(centroids.rows());
  std::vector<std::vector<std::int32_t>> begin(4, right);
  begin.emplace_back(n, -1);
  const auto last = last_copies(centroids);
  for (std::size_t i = 0; i < n; ++i) {
    const auto label = static_cast<std::size_t>(right[i]);
    const auto other = static_cast<std::int32_t>((label + 1 + i % (k - 1)) % k);
    if (i % 37 == 5) begin[1][i] = i % 2 == 0 ? other : -1;
    begin[2][i] = last[label], begin[3][i] = other;
  }
  return begin;
}

/// Passes that expect few labels to change, however many do, with sums; each is followed by one that changes
/// nothing. On a device each is what a pass without expectations is from the same labels.
Passes stable_passes(const Context& ctx, const Rows& x, const Case& c, const Matrix<double>& centroids,
                     const std::vector<double>& weights) {
  constexpr index_t many_rows = 1 << 16;
  const auto moments = column_moments(ctx, x);
  const double heaviest = weights.empty() ? 1 : *std::max_element(weights.begin(), weights.end());
  const FixedPoint unit(moments.max_abs, heaviest, x.rows());
  const PerRowArray<double> weigh(ctx, x.space(), weights);
  Passes passes;
  const auto pass = [&](PerRowArray<std::int32_t>& labels, ClusterSums* sums, bool stable) {
    AssignArguments of{x, moments, centroids.cview(), Scores::float32, labels.view(), weigh.view()};
    if (sums != nullptr) of.unit = &unit, of.sums = sums;
    of.stable = stable;
    return assign(ctx, of).changed;
  };
  const std::vector<std::int32_t> nowhere(static_cast<std::size_t>(c.n), -1);
  PerRowArray<std::int32_t> first(ctx, x.space(), nowhere);
  (void)pass(first, nullptr, false);
  const std::vector<std::int32_t> right = first.to_host();
  auto all = beginnings(right, centroids);
  if (c.n > many_rows) all = {all[1]};
  for (const auto& begin : all) {
    INFO("beginning " << passes.changed.size());
    const auto from_begin = [&](bool stable) {
      PerRowArray<std::int32_t> labels(ctx, x.space(), begin);
      ClusterSums sums(c.k, c.d);
      add_rows(ctx, x, moments, labels.view(), weigh.view(), unit, sums);
      Passes one;
      one.changed = {pass(labels, &sums, stable)};
      one.labels = {labels.to_host()}, one.sums = {numbers_of(sums, unit)};
      CHECK(one.labels[0] == right);
      if (c.n <= many_rows) {
        CHECK(pass(labels, &sums, stable) == 0);
        CHECK(labels.to_host() == one.labels[0]);
        CHECK(numbers_of(sums, unit) == one.sums[0]);
      }
      return one;
    };
    const Passes stable = from_begin(true);
    if (x.on_device()) {
      const Passes unstable = from_begin(false);
      CHECK(stable.changed == unstable.changed);
      CHECK(stable.labels == unstable.labels);
      CHECK(stable.sums == unstable.sums);
    }
    passes.changed.push_back(stable.changed[0]);
    passes.labels.push_back(stable.labels[0]), passes.sums.push_back(stable.sums[0]);
  }
  // Without sums labels may be anything.
  const auto k = static_cast<std::int32_t>(c.k);
  const std::int32_t no_labels[] = {k, k + 1, -5, INT32_MIN, INT32_MAX, (k + 127) / 128 * 128};
  std::vector<std::int32_t> any = right;
  for (std::size_t i = 0; i < any.size(); i += 1 + i % 3) any[i] = no_labels[i % std::size(no_labels)];
  PerRowArray<std::int32_t> labels(ctx, x.space(), any);
  passes.changed.push_back(pass(labels, nullptr, true));
  passes.labels.push_back(labels.to_host());
  CHECK(passes.labels.back() == right);
  CHECK(pass(labels, nullptr, true) == 0);
  return passes;
}

template <class T>
void check_stable(const Case& c) {
  INFO(text_of<T>(c) << " copies " << c.copies << " outlying " << c.outlying);
  const auto [host, device] = host_and_device<T>(c, stable_passes);
  CHECK(device.changed == host.changed);
  CHECK(device.labels == host.labels);
  CHECK(device.sums == host.sums);
}

}  // namespace

TEMPLATE_TEST_CASE("on a device, passes that expect labels to stay find the same ones", "[assign][sanitize][gpu]",
                   double, float, float16, bfloat16) {
  constexpr int levels = sizeof(TestType) == 2 ? 128 : 1 << 20;
  // More than 4000 times 16 columns and centroids: labels are confirmed.
  check_stable<TestType>({1, 128, 500, 0, 1, levels});
  check_stable<TestType>({100, 100, 600, 0, 1, levels, true});
  check_stable<TestType>({193, 64, 1024, 0, 1, levels});
  check_stable<TestType>({577, 64, 1000, 0.3, 1, levels, true, 3, false, true});
  check_stable<TestType>({401, 120, 600, 0, 1, 2, false, 8});  // ties
  check_stable<TestType>({300, 16, 4000, 0, 1, levels, false, 1});
  check_stable<TestType>({1000, 128, 1000, 0, 1, levels, true, 0, false, true});
  check_stable<TestType>({333, 128, 3000, 0, 1, levels});
  Case equal{515, 64, 1000, 0, 1, levels, true};
  equal.copies = true;
  check_stable<TestType>(equal);
  Case far{515, 100, 1000, 0, 1, levels, true};
  far.outlying = 1000;
  check_stable<TestType>(far);
  far.copies = true, far.d = 33, far.k = 1500, far.gap = 2;
  check_stable<TestType>(far);
  // Fewer: as ever.
  check_stable<TestType>({300, 16, 129, 0, 1, levels});
  check_stable<TestType>({300, 128, 129, 0, 1, levels});
  check_stable<TestType>({300, 12, 600, 0, 1, levels, false, 0, true});
  check_stable<TestType>({200, 200, 300, 0, 1, levels});
}

TEST_CASE("on a device, passes that expect labels to stay, many rows and the ends of the range", "[assign][gpu]") {
  check_stable<float>({150001, 64, 1000, 0, 1, 1 << 20, true});  // several times all that runs at once
  check_stable<float16>({100003, 128, 600, 0, 1, 512, true});
  check_stable<float>({500, 64, 1000, 1e5, 1, 1 << 20});
  check_stable<float>({500, 64, 1000, 1000, 1e-2, 1 << 20, true});
  check_stable<float>({500, 64, 1000, 0, 1e38, 1 << 20});
  check_stable<float>({500, 64, 1000, 0, 1e-42, 128});
  check_stable<double>({500, 64, 1000, 1e8, 1, 1 << 20});
  check_stable<double>({500, 64, 1000, 0, 1e300, 1 << 20});
  check_stable<double>({500, 64, 1000, 0, 1e-310, 1 << 20});
  check_stable<float16>({500, 128, 1000, 0, 60000, 512});
  Case one{300, 64, 1000, 0, 1, 1};  // all centroids, and all rows, are one
  check_stable<float>(one);
}

TEST_CASE("on a device, passes that expect labels to stay repeat, bit for bit", "[assign][gpu]") {
  constexpr int times = 30;
  const Case c{20011, 100, 1000, 0, 1, 1 << 20, true};
  const auto [host, device] =
      host_and_device<float>(c, [](const Context& ctx, const Rows& x, const Case& of, const Matrix<double>& centroids,
                                   const std::vector<double>&) {
        Passes passes;
        const auto moments = column_moments(ctx, x);
        const FixedPoint unit(moments.max_abs, 1, x.rows());
        std::vector<std::int32_t> begin;
        for (index_t i = 0; i < of.n; ++i) begin.push_back(static_cast<std::int32_t>((i + i % 29 / 28) % of.k));
        for (int time = 0; time < (x.on_device() ? times : 1); ++time) {
          PerRowArray<std::int32_t> labels(ctx, x.space(), begin);
          ClusterSums sums(of.k, of.d);
          add_rows(ctx, x, moments, labels.view(), {}, unit, sums);
          passes.changed.push_back(
              assign(ctx, {x, moments, centroids.cview(), Scores::float32, labels.view(), {}, &unit, &sums, {}, true})
                  .changed);
          passes.labels.push_back(labels.to_host()), passes.sums.push_back(numbers_of(sums, unit));
        }
        return passes;
      });
  CHECK(host.changed[0] > 0);
  CHECK(device.changed == std::vector<index_t>(times, host.changed[0]));
  for (int time = 0; time < times; ++time) {
    CHECK(device.labels[static_cast<std::size_t>(time)] == host.labels[0]);
    CHECK(device.sums[static_cast<std::size_t>(time)] == host.sums[0]);
  }
}

namespace {

/// Labels, sums and the name of what scored rows that had no labels.
struct Scored {
  std::vector<std::int32_t> labels;
  std::vector<double> sums;
  std::string scorer;
};
Scored scored(const Context& ctx, const Rows& x, const Case& c, const Matrix<double>& centroids,
              const std::vector<double>&) {
  const auto moments = column_moments(ctx, x);
  const FixedPoint unit(moments.max_abs, 1, x.rows());
  PerRowArray<std::int32_t> labels(ctx, x.space(), std::vector<std::int32_t>(static_cast<std::size_t>(c.n), -1));
  ClusterSums sums(c.k, c.d);
  const AssignStats stats =
      assign(ctx, {x, moments, centroids.cview(), Scores::float32, labels.view(), {}, &unit, &sums});
  return {labels.to_host(), numbers_of(sums, unit), std::string(stats.scorer)};
}
template <class T>
void check_products(const Case& c) {
  INFO(text_of<T>(c) << " copies " << c.copies);
  const auto [host, device] = host_and_device<T>(c, scored);
  CHECK(device.scorer == (cuda::cublas_found() ? "cublas" : "assign_slabs"));
  CHECK(device.labels == host.labels);
  CHECK(device.sums == host.sums);
}

}  // namespace

// So many columns that no kernel holds a row: cuBLAS multiplies, and pairs, lists and rescored rows are left over.
TEST_CASE("on a device, a library's products give the labels of the host", "[assign][products][gpu]") {
  Case close{.n = 33003, .d = 2600, .k = 1203, .levels = 1 << 20};
  check_products<float16>(close);
  close.blobs = true, close.copies = true;
  check_products<float>(close);
  check_products<float>({.n = 20011, .d = 2601, .k = 2609, .offset = 300, .levels = 4});
  check_products<double>({.n = 33003, .d = 2600, .k = 1203, .factor = 1e-3, .levels = 1 << 20, .blobs = true});
}
