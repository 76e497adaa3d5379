// The kernels `spmm_rows`, a group of lanes a row, and `spmm_parts`, a warp for each part of equal work: how lanes
// share the columns and the entries.
#pragma once

#include <optional>
#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/spmm/policy.hpp"

namespace ts::cuda {

/// The most columns that one launch computes; wider blocks go through it in slabs.
[[nodiscard]] index_t spmm_widest(DType type) noexcept;

/// Of spmm_rows, as measurements favour it (docs/notes), or with so many lanes for a row of X.
[[nodiscard]] SpmmPolicy spmm_policy(const GpuProblem& problem, index_t wished_lanes = 0);
/// What follows spmm_parts where rows lie in several parts.
[[nodiscard]] KernelPlan spmm_splits_plan(const SpmmPolicy& parts, const SparseFacts& a);

/// Several products in one pass.
struct SpmmStepsPlan {
  KernelPlan kernel;
  SpmmSteps steps;  ///< without counters
  /// For so many products.
  [[nodiscard]] SpmmSteps of(int count) const noexcept { return steps.of(count, kernel.grid); }
};
/// What somebody who measures wants otherwise; 0: as the model has it.
struct SpmmStepsWish {
  int count = 0, blocks = 0;  ///< products in a pass; blocks of a multiprocessor
};
/// The kernel spmm_steps with the sums of `rows`, a plan of spmm_rows for this problem. Nothing where a part of the
/// matrix and of the blocks of vectors that several products meet does not stay in the L2 cache, or all of it does.
[[nodiscard]] std::optional<SpmmStepsPlan> spmm_steps_plan(const GpuProblem& problem, const KernelPlan& rows,
                                                           const DeviceInfo& device, SpmmStepsWish wish = {});

/// Those of whole rows, and where the parts of A are known, those by parts.
[[nodiscard]] std::vector<Candidate> spmm_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::cuda
