// Rows that move from cluster to cluster: their sums, cluster by cluster. Internal to the room.
#pragma once

#include <span>
#include <vector>

#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"

namespace ts::inline v0::assign_detail {

using assign_cpu::MovedRow;

/// Sums of so many bytes stay in no cache while rows move between them, and those of each thread would be cleared and
/// added up in every pass. Then rows wait for the end of the pass.
[[nodiscard]] inline bool moves_wait(const ClusterSums& sums) noexcept {
  constexpr index_t least_bytes = index_t{1} << 20;
  return sums.clusters() * sums.cols() * 16 >= least_bytes;
}

/// Moves rows one by one.
void move_rows(const assign_cpu::AssignKernels& kernels, const Rows& x, const double* shift, const FixedPoint& unit,
               std::span<const MovedRow> rows, ClusterSums& sums);
/// Moves the rows of all lists, cluster by cluster. Sums are exact, so that their bits do not depend on the order.
/// @param shift of centred rows, @param unit of the sums
void move_rows(int threads, const assign_cpu::AssignKernels& kernels, const Rows& x, const double* shift,
               const FixedPoint& unit, std::span<const std::vector<MovedRow>> lists, ClusterSums& sums);

}  // namespace ts::inline v0::assign_detail
