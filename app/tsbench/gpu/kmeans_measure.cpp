#include "tallskinny/app/tsbench/gpu/kmeans_measure.hpp"

#include <algorithm>

#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/app/tsbench/gpu/clock.hpp"
#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/assign/clusters/clusters.hpp"
#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"

namespace ts::bench {

namespace {

constexpr index_t distinct_elements = 1 << 22, least_of_a_cluster = 16, most_checked = 1 << 14;
constexpr int steps = 4;
constexpr unsigned char no_label = 0xff;  // every byte of -1

/// What iterations over some rows start from and leave.
struct State {
  PerRowArray<std::int32_t> labels;
  Clusters clusters;

  State(const Context& ctx, index_t n, const ColumnMoments& moments, const FixedPoint& unit,
        HostView<const double> centroids)
      : labels(ctx, Space::device, n, no_label),
        clusters(ctx, Space::device, moments, unit, Matrix<double>::copy_of(centroids)) {}
};

/// n rows, of which only the first `distinct` differ.
template <class T>
DeviceMatrix<T> points(const Context& ctx, const KMeansCase& c, index_t distinct) {
  const double spread = c.clustered ? 0.1 : 1, box = c.clustered ? 1 : 0;
  const generators::Blobs blobs(distinct, c.d, c.k, spread, box, 0, 7);
  Matrix<T> some(distinct, c.d);
  blobs.fill(0, some.view());
  DeviceMatrix<T> x(ctx.stream, c.n, c.d);
  copy(ctx.stream, x.view().rows(0, distinct), some.cview());
  for (index_t i = distinct; i < c.n; i += distinct) {
    const index_t count = std::min(distinct, c.n - i);
    copy(ctx.stream, x.view().rows(i, count), x.cview().rows(0, count));
  }
  ctx.stream.synchronize();
  return x;
}

Matrix<double> centroids_after_steps(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                                     const FixedPoint& unit, index_t k) {
  Matrix<double> c(k, x.cols());
  for (index_t m = 0; m < k; ++m) x.load(m * (x.rows() / k), c.data() + m * x.cols());
  PerRowArray<std::int32_t> labels(ctx, Space::device, x.rows(), no_label);
  ClusterSums sums(k, x.cols());
  for (int s = 0; s < steps; ++s) {
    assign(ctx, {x, moments, c.cview(), Scores::float32, labels.view(), {}, &unit, &sums});
    for (index_t m = 0; m < k; ++m)
      for (index_t j = 0; j < x.cols() && !sums.weightless(m); ++j)
        c(m, j) = sums.mean(unit, m, j, moments.shift[static_cast<std::size_t>(j)]);
  }
  return c;
}

template <class T>
KMeansMeasured measure(const Context& ctx, const KMeansCase& c, int repetitions) {
  const index_t distinct = std::min(c.n, std::max(least_of_a_cluster * c.k, distinct_elements / c.d));
  const DeviceMatrix<T> points_there = points<T>(ctx, c, distinct);
  const Rows x(ctx.stream, points_there.cview());
  const auto moments = column_moments(ctx, x.block(0, distinct));  // those of all rows but for repetition
  const FixedPoint unit(moments.reach, 1, c.n);
  const Matrix<double> centroids = centroids_after_steps(ctx, x.block(0, distinct), moments, unit, c.k);

  State state(ctx, c.n, moments, unit, centroids.cview());
  KMeansMeasured found;
  found.what = c;
  AssignStats stats;
  const auto pass = [&](State& to, bool settled = false) {
    stats = to.clusters.assign(x, Scores::float32, to.labels.view(), {}, Clusters::Sums::move, {}, settled);
    (void)to.clusters.inertia_terms();  // as means, which would move centroids, it takes all sums once
  };
  const auto timed = [&](State& to, bool settled = false) {
    cuda::Event start(ctx.stream), end(ctx.stream);
    start.record(ctx.stream);
    pass(to, settled);
    end.record(ctx.stream);
    return end.seconds_since(start);
  };
  pass(state);
  State again(ctx, c.n, moments, unit, centroids.cview());
  found.first = timed(again);
  pass(state, true);  // compiles its kernels
  std::vector<double> times(static_cast<std::size_t>(repetitions));
  for (double& seconds : times) seconds = timed(state, true);
  found.pass = timing_of(std::move(times));
  found.same_bits = again.labels.to_host() == state.labels.to_host();
  const ClusterSums sums = state.clusters.sums(), sums_again = again.clusters.sums();
  for (index_t m = 0; m < c.k; ++m)
    for (index_t j = 0; j < c.d && !sums.weightless(m); ++j)
      found.same_bits = found.same_bits && sums_again.mean(unit, m, j) == sums.mean(unit, m, j);
  const index_t checked = std::min(c.n, most_checked);
  found.wrong = count_misassigned(ctx, x.block(0, checked), centroids.cview(), state.labels.view().part(0, checked));
  found.rescored = static_cast<double>(stats.rescored) / static_cast<double>(c.n);
  const auto n = static_cast<double>(c.n), d = static_cast<double>(c.d);
  found.bytes = n * (d * static_cast<double>(sizeof(T)) + 4);
  found.flops = 2 * n * d * static_cast<double>(c.k);
  return found;
}

}  // namespace

KMeansMeasured measure_kmeans(const Context& ctx, const KMeansCase& c, int repetitions) {
  if (c.type == DType::complex128 || c.type == DType::complex64)
    throw Error(Errc::invalid_argument, "points have real coordinates: " + std::string(name_of(c.type)));
  return by_real_type(c.type, [&]<class T>(std::type_identity<T>) { return measure<T>(ctx, c, repetitions); });
}

}  // namespace ts::bench
