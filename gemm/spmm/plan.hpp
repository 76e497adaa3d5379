// The kernels `spmm_rows` and, for long rows, `spmm_long`: how lanes share the columns and the entries of a
// row.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/spmm/policy.hpp"

namespace ts::cuda {

/// The most columns that one launch computes; wider blocks go through it in slabs.
[[nodiscard]] index_t spmm_widest(DType type) noexcept;

/// The policy that measurements favour (docs/notes).
[[nodiscard]] SpmmPolicy spmm_policy(const GpuProblem& problem);
/// For so many parts of long rows.
[[nodiscard]] KernelPlan spmm_long_plan(const GpuProblem& problem, index_t parts);

[[nodiscard]] std::vector<Candidate> spmm_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::cuda
