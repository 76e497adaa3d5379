// Whether and how passes leave out products with centroids that cannot be the nearest. Internal to the room.
#pragma once

#include <memory>

#include "tallskinny/gemm/assign/scores/pairs.hpp"
#include "tallskinny/gemm/assign/scores/pruning.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// What a pass costs with heads of some width, in products of 16-bit integers a row; without: as a whole.
struct PruningPlan {
  index_t columns = 0;  ///< 0: a pass without costs less
  double cost = 0, without = 0;
};

/// Products of a pass with heads, for this share of the pairs of rows and centroids that are met in them, and in all
/// columns.
[[nodiscard]] double pruned_cost(const Context& ctx, index_t d, index_t k, index_t columns, double headed, double met);
[[nodiscard]] double unpruned_cost(const Context& ctx, index_t d, index_t k);
/// Of the head of a row, which is made once, in each of so many passes.
[[nodiscard]] double cost_of_making(index_t d, index_t columns, int passes) noexcept;
/// Columns of heads at most, and shapes for which they may pay.
[[nodiscard]] index_t most_width(index_t cols) noexcept;
[[nodiscard]] bool prunes_by_heads(index_t rows, index_t cols, index_t clusters) noexcept;

/// Chooses the width of heads on a few rows, with centres and labels as they are, from these axes, for so many passes
/// at most.
[[nodiscard]] PruningPlan plan_pruning(const KMeansProblem& problem, HostView<const double> axes,
                                       HostView<const double> centers, std::span<const std::int32_t> labels,
                                       int passes);

/// Whether bounds of pairs serve, instead of heads.
[[nodiscard]] bool prunes_by_pairs(index_t rows, index_t cols, index_t clusters) noexcept;
/// Ready for passes over dense rows in host memory; none where they do not serve, or for so few passes.
[[nodiscard]] std::unique_ptr<PairBounds> pairs_for(const KMeansProblem& problem, int passes);
/// Whether a pass with them cost less than one without.
[[nodiscard]] bool pairs_pay(const Context& ctx, index_t d, index_t k, double headed, double met);

/// Ready for passes over dense rows in host memory that have labels; none where it does not pay.
[[nodiscard]] std::unique_ptr<Pruning> pruning_for(const KMeansProblem& problem, HostView<const double> centers,
                                                   std::span<const std::int32_t> labels, int passes);

}  // namespace ts::inline v0::solvers::kmeans_detail
