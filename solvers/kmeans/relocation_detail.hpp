// Rows for clusters that have none. Internal to the room.
#pragma once

#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Rows (m x d, their numbers among all) that leave clusters for empty ones.
struct Relocation {
  std::vector<index_t> numbers;
  Matrix<double> rows;
  std::vector<double> weights;
  std::vector<std::int32_t> from, to;
};

/// all: each empty cluster gets the row farthest from its own centre, of a cluster that has others: fewer than there
/// are empty clusters where as many are distinct. @param labels of the rows here, where these are
[[nodiscard]] Relocation relocation_to(const std::vector<index_t>& empty, const KMeansProblem& problem,
                                       const Clusters& clusters, PerRow<const std::int32_t> labels);

/// all: after clusters.move_rows(), centres move where fixed point does not serve, or rows are fewer than clusters.
/// Returns the squared shift. @param labels of the rows here, without the relocation
double place_means(const Relocation& relocation, const KMeansProblem& problem, Clusters& clusters,
                   std::vector<std::int32_t> labels, const AdjustMean& adjust);

}  // namespace ts::inline v0::solvers::kmeans_detail
