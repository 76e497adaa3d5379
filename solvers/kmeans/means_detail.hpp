// Means of the rows of clusters, whatever the orders of magnitude that rows and weights span, and rows for clusters
// that have none. Internal to the room.
#pragma once

#include <vector>

#include "tallskinny/solvers/kmeans/pass/clusters/clusters.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Rows evenly spread over all. They show if fixed-point sums in units of the farthest row serve the others.
class RowScales {
 public:
  explicit RowScales(const KMeansProblem& problem);
  /// Blocks of one pass, in order.
  void inspect(index_t first, const Rows& block);
  /// all: some are nonzero, but smaller in every column than 2^-14 of the farthest, from 0 or from medians.
  [[nodiscard]] bool differ_widely(const ColumnMoments& moments) const;

 private:
  const KMeansProblem& p_;
  std::vector<index_t> numbers_;  ///< of the rows looked at here
  std::vector<double> dense_;     ///< these rows
  std::vector<double> largest_;   ///< where they are sparse: the largest |x| of each
};

/// True if a mean from such sums could have an error of more than 2^-50 of the farthest row: a cluster is far lighter
/// than as many rows of the largest weight, or rows differ widely.
[[nodiscard]] bool too_coarse(const KMeansProblem& problem, const FixedPoint& unit, const ClusterSums& sums);

/// all: sum_i w_i ||x_i - shift||^2.
[[nodiscard]] double second_moment_of(const KMeansProblem& problem);

/// Shift of the centres, and weights of their clusters: 0 if and only if no row of the cluster weighs anything.
struct MovedCenters {
  double squared_shift = 0;
  std::vector<double> weights;
};

/// all: centres (k x d) move to the means of the rows with their labels, as ts::move_to_means(). `sums` are those of
/// the rows. Where these are too coarse, the rows are added up once more in pairs of float64, in order.
MovedCenters move_to_means(const KMeansProblem& problem, const FixedPoint& unit, const ClusterSums& sums,
                           std::span<const std::int32_t> labels, HostView<double> centers,
                           const AdjustMean& adjust = {});
/// Adds the rows up first, then moves the centres as above.
MovedCenters move_to_means(const KMeansProblem& problem, std::span<const std::int32_t> labels, HostView<double> centers,
                           const AdjustMean& adjust = {});

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
