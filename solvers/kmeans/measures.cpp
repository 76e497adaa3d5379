#include "tallskinny/solvers/kmeans/measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/directions_detail.hpp"
#include "tallskinny/solvers/kmeans/gathered_detail.hpp"
#include "tallskinny/solvers/kmeans/means_detail.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/squared_distance.hpp"

namespace ts::inline v0::solvers {

using namespace kmeans_detail;

namespace {

using assign_detail::squared_distance;

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
        worst = std::max(worst, (spread[at(m)] + spread[at(q)]) /
                                    std::sqrt(squared_distance<double>(&means(m, 0), &means(q, 0), d)));
    found += worst / static_cast<double>(clusters.size());
  }
  return found;
}

/// A standard deviation below this share of the mean is what rounding leaves of equal numbers.
constexpr double smallest_spread = 1e-13;

/// A member of a cluster.
struct NearRow {
  double squared_distance;
  index_t row;
  [[nodiscard]] bool operator<(const NearRow& other) const noexcept {
    return squared_distance < other.squared_distance || (squared_distance == other.squared_distance && row < other.row);
  }
};
using NearRows = std::vector<std::vector<NearRow>>;  ///< of each cluster, the nearest first

void add_near(const NearRow& member, std::size_t most, std::vector<NearRow>& nearest) {
  if (nearest.size() == most && (most == 0 || !(member < nearest.back()))) return;
  nearest.insert(std::upper_bound(nearest.begin(), nearest.end(), member), member);
  if (nearest.size() > most) nearest.pop_back();
}

/// The members nearest to each centre, over the rows of all ranks.
NearRows nearest_rows(const KMeansProblem& p, HostView<const double> centers, std::span<const std::int32_t> labels,
                      std::size_t most) {
  const std::vector<double> own = own_distances(p, centers, labels);
  const index_t first = p.first_row();
  NearRows here(at(p.k));
  for (index_t i = 0; i < p.rows(); ++i) add_near({own[at(i)], first + i}, most, here[at(labels[at(i)])]);
  if (!p.distributed() || most == 0) return here;
  std::vector<NearRow> list(at(p.k) * most, {0, -1});  // as many of each cluster on every rank
  for (std::size_t m = 0; m < here.size(); ++m) std::copy(here[m].begin(), here[m].end(), &list[m * most]);
  list = gather_lists<NearRow>(p.ctx, list);
  NearRows all(at(p.k));
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].row >= 0) add_near(list[i], most, all[i / most % all.size()]);
  return all;
}

/// The means of the rows that clusters have, as deviations from the mean of all.
Matrix<double> deviations_of(const KMeansProblem& p, Matrix<double> centers, std::span<const std::int32_t> labels) {
  const index_t d = p.cols();
  const MovedCenters moved = move_to_means(p, labels, centers.view());
  for (index_t j = 0; j < d; ++j) {
    const double mean = p.moments.mean[at(j)], spread = std::sqrt(p.moments.variance[at(j)]);
    const bool varies = spread > smallest_spread * std::abs(mean);
    for (index_t m = 0; m < p.k; ++m) centers(m, j) = varies ? (centers(m, j) - mean) / spread : 0;
  }
  for (index_t m = 0; m < p.k; ++m)
    if (moved.weights[at(m)] == 0) std::fill_n(&centers(m, 0), d, std::numeric_limits<double>::quiet_NaN());
  return centers;
}

double pairs_among(std::uint64_t count) {
  const auto n = static_cast<double>(count);
  return n * (n - 1) / 2;
}

double sum_of_pairs(std::span<const std::uint64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), 0., [](double sum, auto n) { return sum + pairs_among(n); });
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
    between += weights[at(m)] * squared_distance<double>(&means(m, 0), center.data(), d);
  }

  KMeansMeasures found;
  found.davies_bouldin = davies_bouldin_of(clusters, spread, means);
  const auto groups = static_cast<double>(clusters.size());
  found.calinski_harabasz = total > groups ? between / (groups - 1) / (within / (total - groups)) : undefined;
  found.simplified_silhouette = simplified_silhouette_of(p, usable.cview(), labels, sizes_of(ctx, labels, k), total);
  return found;
}

ClusterTraits traits_of(const Context& ctx, const RowSource& rows, HostView<const double> centers,
                        std::span<const std::int32_t> labels, KMeansMetric metric, index_t most) {
  const UseHostMemory use(ctx.host_memory);
  const index_t k = centers.rows();
  check_labels(ctx, rows, labels, k);
  Matrix<double> usable = usable_centers(rows.cols(), centers, metric);
  const Directions normal(ctx, rows, {}, metric);
  KMeansProblem p = normal.problem(k);
  p.find_moments();
  ClusterTraits found;
  const NearRows members = nearest_rows(p, usable.cview(), labels, at(most));
  found.nearest.resize(at(k));
  for (std::size_t m = 0; m < members.size(); ++m) {
    found.nearest[m].reserve(members[m].size());
    for (const NearRow& near : members[m]) found.nearest[m].push_back(near.row);
  }
  found.deviations = deviations_of(p, std::move(usable), labels);
  return found;
}

double adjusted_rand_index(const Context& ctx, std::span<const std::int32_t> labels,
                           std::span<const std::int32_t> known, index_t clusters, index_t classes) {
  expects(labels.size() == known.size(), "adjusted_rand_index: there are other labels than rows");
  const auto width = at(classes), height = at(clusters);
  std::vector<std::uint64_t> both(height * width), of_clusters(height), of_classes(width);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    expects(labels[i] >= 0 && labels[i] < clusters && known[i] >= 0 && known[i] < classes,
            "adjusted_rand_index: a label is out of its range");
    ++both[at(labels[i]) * width + at(known[i])];
  }
  ctx.communicator->add(std::span(both));
  for (std::size_t q = 0; q < height; ++q)
    for (std::size_t c = 0; c < width; ++c) of_clusters[q] += both[q * width + c], of_classes[c] += both[q * width + c];
  const double all = pairs_among(std::accumulate(of_classes.begin(), of_classes.end(), std::uint64_t{0}));
  const double a = sum_of_pairs(of_clusters), b = sum_of_pairs(of_classes), together = sum_of_pairs(both);
  const double by_chance = all > 0 ? a * b / all : 0, most = (a + b) / 2;
  return most == by_chance ? 1 : (together - by_chance) / (most - by_chance);
}

}  // namespace ts::inline v0::solvers
