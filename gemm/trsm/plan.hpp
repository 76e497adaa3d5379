// The kernel family `trsm`: how many rows and columns are solved at once, and where X and R are kept.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/trsm/policy.hpp"

namespace ts::inline v0::cuda {

/// Every policy that can run `problem` on `device`, the one that measurements favour first.
[[nodiscard]] std::vector<TrsmPolicy> trsm_policies(const GpuProblem& problem, const DeviceInfo& device);
[[nodiscard]] std::vector<Candidate> trsm_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::inline v0::cuda
