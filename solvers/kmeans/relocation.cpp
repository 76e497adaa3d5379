#include <algorithm>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/means_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

/// all: the rows farthest from the centres of their labels, as keep_farthest() orders them.
std::vector<FarRow> farthest(const KMeansProblem& p, const Clusters& clusters, PerRow<const std::int32_t> labels,
                             index_t count) {
  std::vector<FarRow> rows;
  p.for_each_block([&](index_t first, const Rows& block) {
    for (FarRow far : clusters.farthest_rows(block, labels.part(first, block.rows()), count)) {
      far.row += p.first_row() + first;
      rows.push_back(far);
    }
  });
  if (p.distributed()) rows = gather_lists<FarRow>(p.ctx, rows);
  keep_farthest(rows, count);
  return rows;
}

}  // namespace

Relocation relocation_to(const std::vector<index_t>& empty, const KMeansProblem& p, const Clusters& clusters,
                         PerRow<const std::int32_t> labels) {
  constexpr index_t first_look = 16, growth = 8;
  std::vector<index_t> counts = clusters.counts(), order;
  std::vector<FarRow> far;
  std::vector<double> weights;
  Relocation found;
  for (std::size_t next = 0; found.to.size() < empty.size(); ++next) {
    if (next == far.size()) {  // some were passed over: look farther
      if (std::ssize(far) == p.all_rows()) break;
      far = farthest(p, clusters, labels, std::max({growth * std::ssize(far), 2 * std::ssize(empty), first_look}));
      order.clear();
      for (const FarRow& each : far) order.push_back(each.row);
      weights = p.weights_at(order);
      if (next == far.size()) break;
    }
    const auto& [distance, row, donor] = far[next];
    if (distance == 0) break;  // as many distinct rows as clusters with rows
    if (weights[next] == 0 || counts[at(donor)] <= 1) continue;
    --counts[at(donor)];
    found.weights.push_back(weights[next]), found.numbers.push_back(row);
    found.to.push_back(static_cast<std::int32_t>(empty[found.to.size()]));
    found.from.push_back(static_cast<std::int32_t>(donor));
  }
  found.rows = Matrix<double>(std::ssize(found.numbers), p.cols());
  if (!found.numbers.empty()) p.load_rows(found.numbers, found.rows.view());
  return found;
}

double place_means(const Relocation& r, const KMeansProblem& p, Clusters& clusters, std::vector<std::int32_t> labels,
                   const AdjustMean& adjust) {
  Matrix<double> centers = clusters.centroids();
  for (std::size_t q = 0; q < r.to.size(); ++q)
    if (const index_t here = r.numbers[q] - p.first_row(); here >= 0 && here < p.rows()) labels[at(here)] = r.to[q];
  const auto [squared_shift, weights] =
      move_to_means(p, clusters.unit(), clusters.sums(), labels, centers.view(), adjust);
  // A cluster for which there is no row stands where the heaviest one does, not where it was.
  const index_t heaviest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  for (index_t m = 0; m < p.k; ++m)
    if (weights[at(m)] == 0) std::copy_n(centers.data() + heaviest * p.cols(), p.cols(), centers.data() + m * p.cols());
  clusters.place(std::move(centers));
  return squared_shift;
}

}  // namespace ts::inline v0::solvers::kmeans_detail
