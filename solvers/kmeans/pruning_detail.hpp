// Whether and how passes leave out products with centroids that cannot be the nearest. Internal to the room.
#pragma once

#include <memory>

#include "tallskinny/gemm/assign/scores/pairs.hpp"
#include "tallskinny/gemm/assign/scores/pruning.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Products of a pass with heads, for this share of the pairs of rows and centroids that are met in them, and in all
/// columns.
[[nodiscard]] double pruned_cost(const Context& ctx, index_t d, index_t k, index_t columns, double headed, double met);
[[nodiscard]] double unpruned_cost(const Context& ctx, index_t d, index_t k);
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
