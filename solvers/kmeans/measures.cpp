#include "tallskinny/solvers/kmeans/measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/directions_detail.hpp"
#include "tallskinny/solvers/kmeans/gathered_detail.hpp"
#include "tallskinny/solvers/kmeans/means_detail.hpp"

namespace ts::inline v0::solvers {

using namespace kmeans_detail;

namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// The weighted mean of (b - a) / max(a, b).
double simplified_silhouette_of(const KMeansProblem& p, HostView<const double> centers,
                                std::span<const std::int32_t> labels, std::span<const index_t> sizes, double total) {
  RowBounds bounds(p.rows());
  bounds.begin_pass(p.ctx, centers, p.moments);
  std::vector<std::int32_t> nearest(labels.size(), -1);
  assign_all(p, centers, Scores::float64, nearest, &bounds);
  const std::vector<double> own = own_distances(p, centers, labels);
  double sum = 0;
  in_turn(p.ctx, {&sum, 1}, [&] {
    for (index_t i = 0; i < p.rows(); ++i) {
      const auto row = at(i);
      if (sizes[at(labels[row])] <= 1) continue;
      const double a = std::sqrt(own[row]);
      double b = a;  // where two centres are equally near
      if (std::isfinite(*bounds.upper(i)))
        b = static_cast<double>(nearest[row] == labels[row] ? *bounds.lower(i) : *bounds.upper(i)) / bounds.scale();
      if (std::max(a, b) > 0) sum += p.weight(i) * (b - a) / std::max(a, b);
    }
  });
  return sum / total;
}

double distance(const double* a, const double* b, index_t d) {
  double sum = 0;
  for (index_t j = 0; j < d; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(sum);
}

/// The mean over clusters of the worst ratio of the spreads of two to the distance of their means. Source:
/// Davies and Bouldin 1979.
double davies_bouldin_of(const std::vector<index_t>& clusters, const std::vector<double>& spread,
                         const Matrix<double>& means) {
  const index_t d = means.cols();
  double found = 0;
  for (const index_t m : clusters) {
    double worst = 0;
    for (const index_t q : clusters)
      if (q != m)
        worst =
            std::max(worst, (spread[at(m)] + spread[at(q)]) / distance(means.data() + m * d, means.data() + q * d, d));
    found += worst / static_cast<double>(clusters.size());
  }
  return found;
}

}  // namespace

KMeansMeasures measure(const Context& ctx, const RowSource& rows, HostView<const double> centers,
                       std::span<const std::int32_t> labels, KMeansMetric metric, std::span<const double> given) {
  const UseHostMemory use(ctx.host_memory);
  const index_t k = centers.rows(), d = rows.cols();
  check_labels(ctx, rows, labels, k);
  const Matrix<double> usable = usable_centers(d, centers, metric);
  const Directions normal(ctx, rows, given, metric);
  KMeansProblem p = normal.problem(k);
  p.find_moments();

  auto means = Matrix<double>::copy_of(usable.cview());
  const std::vector<double> weights = move_to_means(p, labels, means.view()).weights;
  std::vector<index_t> clusters;  // with rows
  for (index_t m = 0; m < k; ++m)
    if (weights[at(m)] != 0) clusters.push_back(m);
  if (clusters.size() < 2) return {undefined, undefined, undefined};
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::vector<double> from_mean = own_distances(p, means.cview(), labels);
  std::vector<double> spread(at(k + 1));  // of each cluster, and the squares of all
  in_turn(ctx, spread, [&] {
    for (index_t i = 0; i < p.rows(); ++i) {
      const auto row = at(i);
      spread[at(labels[row])] += p.weight(i) * std::sqrt(from_mean[row]);
      spread.back() += p.weight(i) * from_mean[row];
    }
  });
  const double within = spread.back();
  double between = 0;
  std::vector<double> center(at(d));
  for (const index_t m : clusters)
    for (index_t j = 0; j < d; ++j) center[at(j)] += weights[at(m)] / total * means(m, j);
  for (const index_t m : clusters) {
    spread[at(m)] /= weights[at(m)];
    between += weights[at(m)] * std::pow(distance(means.data() + m * d, center.data(), d), 2);
  }

  KMeansMeasures found;
  found.davies_bouldin = davies_bouldin_of(clusters, spread, means);
  const auto groups = static_cast<double>(clusters.size());
  found.calinski_harabasz = total > groups ? between / (groups - 1) / (within / (total - groups)) : undefined;
  found.simplified_silhouette = simplified_silhouette_of(p, usable.cview(), labels, sizes_of(ctx, labels, k), total);
  return found;
}

}  // namespace ts::inline v0::solvers
