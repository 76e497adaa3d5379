// The kernels of assign on a GPU: pure functions of shapes and device.
#pragma once

#include <optional>

#include "tallskinny/gemm/assign/problem.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::cuda {

/// Centroids are padded to whole groups of 8.
[[nodiscard]] constexpr index_t padded_centroids(index_t k) noexcept {
  return (k + 7) / 8 * 8;
}
/// Steps of 16 columns.
[[nodiscard]] constexpr index_t column_steps(index_t d) noexcept {
  return (d + 15) / 16;
}

/// The kernels that score rows, and how they want the centroids.
struct AssignPlans {
  /// assign_single, assign_narrow, assign_scores, assign_feeders or assign_groups; none where a row fits
  /// neither into registers nor into shared memory.
  std::optional<KernelPlan> scores;
  /// The same in two parts for the rows that a first one leaves open.
  std::optional<KernelPlan> again;
  bool confirms = false;  ///< `scores` finds which rows keep their labels
  index_t padded = 0;     ///< centroids with those that fill the last group
  index_t steps = 0;      ///< of 16 columns that float16 parts have; 0: there are none
  index_t chunk = 0;      ///< centroids that lie together, 0 for the fragments of assign_scores
};
[[nodiscard]] AssignPlans assign_plans(const AssignProblem& problem, const DeviceInfo& device);
/// assign/scores/kernels/assign_prepare.cuh
[[nodiscard]] KernelPlan assign_prepare_plan(const AssignProblem& problem, const AssignPlans& plans);
/// A kernel that shares its rows among so many warps, or fewer that go on.
[[nodiscard]] KernelPlan assign_rows_plan(std::string_view family, const AssignProblem& problem,
                                          index_t warps, const DeviceInfo& device);
/// A kernel with one thread for each of `count` things.
[[nodiscard]] KernelPlan assign_threads_plan(std::string_view family, DType type, Defines defines,
                                             index_t count);
/// assign/sums/kernels/assign_means.cuh for so many clusters.
[[nodiscard]] KernelPlan assign_means_plan(bool move, index_t clusters);

}  // namespace ts::cuda
