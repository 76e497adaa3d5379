// The kernels of assign on a GPU: pure functions of shapes and device.
#pragma once

#include <optional>

#include "tallskinny/gemm/assign/rows.hpp"
#include "tallskinny/gemm/backend/cuda/devices.hpp"
#include "tallskinny/gemm/backend/cuda/kernel_plan.hpp"

namespace ts::cuda {

/// What the kernels of a pass depend on.
struct AssignProblem {
  DType type = DType::float32;
  index_t n = 0, d = 0, k = 0;
  /// Elements of a row lie side by side, without scales; the power of two that divides the addresses of rows.
  bool plain = true;
  int alignment = 16;
  bool packed = true;    ///< nothing lies between rows
  bool wide = false;     ///< x - shift is not safe, or not exact enough, in float32
  bool as_are = false;   ///< rows need neither shift nor scale before they are rounded to float16
  bool settled = false;  ///< most rows keep their labels
  bool fast = false;     ///< the best score is taken at its word
  bool room = false;     ///< labels are kept with room to move (kernels/assign_bounds.cuh)

  /// Words of 32 marks for n rows, whole pairs of them.
  [[nodiscard]] static constexpr index_t mark_words(index_t n) noexcept { return (n + 63) / 64 * 2; }
};
[[nodiscard]] AssignProblem assign_problem(const Rows& x, index_t k, bool wide, bool as_are = false,
                                           bool settled = false, bool fast = false, bool room = false);

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
/// kernels/assign_prepare.cuh
[[nodiscard]] KernelPlan assign_prepare_plan(const AssignProblem& problem, const AssignPlans& plans);
/// A kernel that shares its rows among so many warps, or fewer that go on.
[[nodiscard]] KernelPlan assign_rows_plan(std::string_view family, const AssignProblem& problem,
                                          index_t warps, const DeviceInfo& device);
/// A kernel with one thread for each of `count` things.
[[nodiscard]] KernelPlan assign_threads_plan(std::string_view family, DType type, Defines defines,
                                             index_t count);
/// kernels/assign_means.cuh for so many clusters.
[[nodiscard]] KernelPlan assign_means_plan(bool move, index_t clusters);

}  // namespace ts::cuda
