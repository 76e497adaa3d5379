// The kernels `spmm_rows`, a group of lanes a row, and `spmm_parts`, a warp for each part of equal work: how lanes
// share the columns and the entries. `residual_rows`: residuals in twofold sums.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/spmm/policy.hpp"

namespace ts::inline v0::cuda {

/// The most columns that one launch computes; wider blocks go through it in slabs.
[[nodiscard]] index_t spmm_widest(DType type) noexcept;

/// Of spmm_rows, as measurements favour it (docs/notes), or with so many lanes for a row of X.
[[nodiscard]] SpmmPolicy spmm_policy(const GpuProblem& problem, index_t wished_lanes = 0);
/// What follows spmm_parts where rows lie in several parts.
[[nodiscard]] KernelPlan spmm_splits_plan(const SpmmPolicy& parts, const SparseFacts& a);

/// Those of whole rows, and where the parts of A are known, those by parts.
[[nodiscard]] std::vector<Candidate> spmm_candidates(const GpuProblem& problem, const DeviceInfo& device);

/// residual_rows for a matrix of so many rows, with so many entries in one on average.
[[nodiscard]] KernelPlan plan_residual(DType type, int index_bytes, index_t rows, index_t of_row);

}  // namespace ts::inline v0::cuda
