// The kernel family `column_norms`: how it cuts X, and what that takes.
#pragma once

#include <vector>

#include "tallskinny/gemm/norms/policy.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::inline v0::cuda {

[[nodiscard]] ColumnNormsPolicy column_norms_policy(const GpuProblem& problem);
[[nodiscard]] std::vector<Candidate> column_norms_candidates(const GpuProblem& problem, const DeviceInfo& device);
[[nodiscard]] KernelPlan plan_norms_of_parts(DType type, index_t columns);

}  // namespace ts::inline v0::cuda
