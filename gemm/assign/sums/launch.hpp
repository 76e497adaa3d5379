// Rows that change clusters are added to sums on a GPU, cluster by cluster.
#pragma once

#include "tallskinny/gemm/assign/arguments.hpp"
#include "tallskinny/gemm/assign/assign.hpp"

namespace ts::assign_device {

/// Device memory in which moves are put in order.
struct SumsRoom {
  std::uint32_t* places;  ///< one of each cluster, and another
  std::uint32_t* order;   ///< two of each move; one where all come from nowhere
};

/// Adds the rows of `to.moves`, so many, to the sums `to` of the clusters that `labels` tell, and takes them
/// from those of the clusters that they were in; without a list all rows that have a label, from nowhere.
/// Asynchronous. Rows: at most 2^27.
void add_moves(const Context& ctx, const Rows& x, PerRow<const std::int32_t> labels, const FixedPoint& unit,
               const SumsArgument& to, index_t clusters, index_t moves, const SumsRoom& room);

}  // namespace ts::assign_device
