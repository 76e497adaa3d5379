// Sums by cluster of rows whose labels are known.
#pragma once

#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"

namespace ts::inline v0 {

/// Adds every row that weighs something to the sum of its cluster, or takes nothing into account where the
/// label is negative: what a pass of assign() that starts from labels -1 leaves.
void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<const std::int32_t> labels,
              PerRow<const double> weights, const FixedPoint& unit, ClusterSums& sums);

/// The sums of the rows of all ranks of `ctx`, from those of the rows here.
[[nodiscard]] ClusterSums sums_of_ranks(const Context& ctx, const ClusterSums& here);

}  // namespace ts::inline v0
