// Whether and how passes leave out products with centroids that cannot be the nearest. Internal to the room.
#pragma once

#include <memory>

#include "tallskinny/gemm/assign/scores/pruning.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::solvers::kmeans_detail {

/// Orthonormal directions (d x m, m <= most) in which the rows here vary most, by falling variance: the leading
/// eigenvectors of the Gram matrix of a sample, by two steps of subspace iteration from a random block (Halko,
/// Martinsson, Tropp 2011, algorithm 4.4). Fewer than `most` where the sample has no more dimensions.
[[nodiscard]] Matrix<double> leading_axes(const KMeansProblem& problem, index_t most);

/// What a pass costs with heads of some width, in products of 16-bit integers a row; without: as a whole.
struct PruningPlan {
  index_t columns = 0;  ///< 0: a pass without costs less
  double survivors = 1, cost = 0, without = 0;
};

/// Products of a pass with heads, for this share of the pairs of rows and centroids that are met in them, and in all
/// columns.
[[nodiscard]] double pruned_cost(index_t d, index_t k, index_t columns, double headed, double met) noexcept;

/// Chooses the width of heads on a few rows, with centres and labels as they are, from these axes.
[[nodiscard]] PruningPlan plan_pruning(const KMeansProblem& problem, HostView<const double> axes,
                                       HostView<const double> centers, std::span<const std::int32_t> labels);

/// Ready for passes over dense rows in host memory that have labels; none where it does not pay.
[[nodiscard]] std::unique_ptr<Pruning> pruning_for(const KMeansProblem& problem, HostView<const double> centers,
                                                   std::span<const std::int32_t> labels);

}  // namespace ts::solvers::kmeans_detail
