// Sums by cluster of rows in device memory. The arguments were checked.
#pragma once

#include <utility>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moments.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/policy.hpp"

namespace ts::inline v0::cuda {

/// assign/sums/kernels/sums_sort.cuh for so many moves, whose entries are put in order, or counted.
[[nodiscard]] KernelPlan sums_sort_plan(bool put, index_t clusters, index_t moves, const DeviceInfo& device);
/// assign/sums/kernels/sums_add.cuh for so many entries at most; weighed: rows have weights, or factors are
/// not to be multiplied.
[[nodiscard]] KernelPlan sums_add_plan(const RowsForm& form, bool weighed, index_t entries, const DeviceInfo& device);

}  // namespace ts::inline v0::cuda

namespace ts::inline v0::assign_device {

/// Sums on a device.
struct PlacedSums {
  index_t clusters = 0;
  const double *shift = nullptr, *to_units = nullptr;  ///< of each column; to_units only for sums
  cuda::word64* words = nullptr;                       ///< as ClusterSums::add_words has them; or none
};
/// Words of the sums of k clusters.
[[nodiscard]] constexpr index_t sum_words(index_t k, index_t d) noexcept { return 2 * k * d + 3 * k; }
[[nodiscard]] inline cuda::word64* as_words(std::uint64_t* words) noexcept {
  return reinterpret_cast<cuda::word64*>(words);
}
/// Arguments of kernels for these sums, without moves.
[[nodiscard]] cuda::SumsArgument argument_of(const PlacedSums& sums, index_t d, const FixedPoint* unit,
                                             const double* weights) noexcept;
/// Waits for the stream, and adds such words to sums in host memory.
void add_fetched(const Context& ctx, const void* words, ClusterSums& sums);

/// Device memory in which moves are put in order.
struct MoveOrder {
  std::uint32_t* places;  ///< one of each cluster, and another
  std::uint32_t* order;   ///< two of each move; one where all come from nowhere
};
/// Puts moves, or all rows that have a label, in the order of clusters. Asynchronous.
void sort_moves(const Context& ctx, const cuda::SumsSortArguments& moves);
/// Adds the rows of `to.moves`, `moves` of them, to the sums `to` of the clusters of their `labels`, and takes them
/// from those of the clusters that they leave. Without a list, adds all rows that have a label. Asynchronous. Rows: at
/// most most_listed_rows.
void add_moves(const Context& ctx, const Rows& x, PerRow<const std::int32_t> labels, const FixedPoint& unit,
               const cuda::SumsArgument& to, index_t clusters, index_t moves, const MoveOrder& memory);
/// Adds all rows that have a label. Asynchronous.
void add_rows(const Context& ctx, const Rows& x, const PlacedSums& sums, PerRow<const std::int32_t> labels,
              PerRow<const double> weights, const FixedPoint& unit);
/// add_rows() of means.hpp, for rows on a device.
void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<const std::int32_t> labels,
              PerRow<const double> weights, const FixedPoint& unit, ClusterSums& sums);

}  // namespace ts::inline v0::assign_device
