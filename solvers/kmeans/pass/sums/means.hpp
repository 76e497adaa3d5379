// Sums of rows with labels, centroids from them, and facts about rows that follow from their sums alone.
#pragma once

#include <functional>
#include <span>

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

namespace ts::inline v0 {

/// Adds every row that weighs something to the sum of its cluster, or takes nothing into account where the
/// label is negative: what a pass of assign() that starts from labels -1 leaves.
void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<const std::int32_t> labels,
              PerRow<const double> weights, const FixedPoint& unit, ClusterSums& sums);

/// The sums of the rows of all ranks of `ctx`, from those of the rows here.
[[nodiscard]] ClusterSums sums_of_ranks(const Context& ctx, const ClusterSums& here);

/// May change the mean of a cluster before it becomes a centroid; false keeps the old centroid.
using AdjustMean = std::function<bool(std::span<double> mean)>;

/// Centroids (k x d) move to the means of their rows, ClusterSums::mean() with `shift` (d numbers); those of
/// weightless clusters stay. Returns sum_m ||new c_m - c_m||^2: 32 partial sums of each centroid's columns,
/// then the centroids in order. The same bits for any thread count and instruction set, and on a GPU.
/// `adjust` is called by several threads.
double move_to_means(const Context& ctx, const FixedPoint& unit, const ClusterSums& sums, std::span<const double> shift,
                     HostView<double> centroids, const AdjustMean& adjust = {});

/// sum_m (W_m ||c_m - shift||^2 - 2 (c_m - shift) S_m) over clusters that are not weightless, with their
/// weights W_m and sums S_m of w_i (x_i - shift), to about 100 bits: what their rows' inertia about the
/// centroids is more than sum_i w_i ||x_i - shift||^2. The same bits as above. NaN where squares overflow.
Twofold inertia_terms(const Context& ctx, const FixedPoint& unit, const ClusterSums& sums,
                      std::span<const double> shift, HostView<const double> centroids);

}  // namespace ts::inline v0
