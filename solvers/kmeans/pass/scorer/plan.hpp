// The kernels of assign on a GPU: pure functions of shapes and device.
#pragma once

#include <optional>

#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"

namespace ts::inline v0::cuda {

/// The kernels of a pass depend on this.
struct AssignProblem {
  RowsForm rows;
  index_t k = 0;
  bool wide = false;    ///< x - shift is not safe, or not exact enough, in float32
  bool raw = false;     ///< rows need neither shift nor scale before they are rounded to float16
  bool stable = false;  ///< most rows keep their labels
  bool fast = false;    ///< the best score is taken at its word
  bool first = false;   ///< no row has a label: all are added to sums in the end, by other kernels

  /// Words of 32 marks for n rows, whole pairs of them.
  [[nodiscard]] static constexpr index_t mark_words(index_t n) noexcept { return (n + 63) / 64 * 2; }
};

/// Centroids are padded to whole groups of 8.
[[nodiscard]] constexpr index_t padded_centroids(index_t k) noexcept { return (k + 7) / 8 * 8; }
/// Steps of 16 columns.
[[nodiscard]] constexpr index_t column_steps(index_t d) noexcept { return (d + 15) / 16; }

/// A kernel that scores rows, which takes ScoresArguments.
struct ScorePlan {
  KernelPlan kernel;
  bool slabs = false;     ///< rows of more columns than registers hold, by tensor instructions of a warp
  bool raw = false;       ///< rows are neither shifted nor scaled
  bool pairs = false;     ///< true: rows with only two candidates are reported with both
  double unit = 0x1p-23;  ///< what a unit of origins is in what the kernel compares
};

/// The kernels that score rows, and how they want the centroids.
struct AssignPlans {
  std::optional<ScorePlan> scores;   ///< none where elements of a row do not lie side by side
  std::optional<ScorePlan> again;    ///< in two parts, for the rows that the first leaves undecided
  std::optional<ScorePlan> collect;  ///< instead, where there is none: what the first leaves of these
  bool confirms = false;             ///< `scores` finds which rows keep their labels
  index_t padded = 0;                ///< centroids with those that fill the last group
  index_t steps = 0;                 ///< of 16 columns that float16 parts have; 0: there are none
  index_t chunk = 0;                 ///< centroids that lie together, 0 for the fragments of assign_scores
};
[[nodiscard]] AssignPlans assign_plans(const AssignProblem& problem, const DeviceInfo& device);
/// The kernels around a library's product of rows and centroids, which takes the place of assign_slabs.
struct ProductPlans {
  index_t rows = 0;  ///< at once, a multiple of 32
  KernelPlan round, minima;
};
/// Plans with products by a library; none where another kernel scores all rows, or for so few products that loading the
/// library would not pay.
[[nodiscard]] std::optional<ProductPlans> product_plans(const AssignProblem& problem, const AssignPlans& plans,
                                                        const DeviceInfo& device);
/// True if scorer/kernels/assign_line.cuh is used in place of scores.
[[nodiscard]] bool takes_line(const AssignProblem& problem) noexcept;
/// scorer/kernels/assign_prepare.cuh
[[nodiscard]] KernelPlan assign_prepare_plan(const AssignProblem& problem, const AssignPlans& plans);

}  // namespace ts::inline v0::cuda
