#include "tallskinny/solvers/kmeans/traits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/directions_detail.hpp"
#include "tallskinny/solvers/kmeans/means_detail.hpp"

namespace ts::inline v0::solvers {

using namespace kmeans_detail;

namespace {

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

/// Of the rows of all ranks.
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

}  // namespace

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

}  // namespace ts::inline v0::solvers
