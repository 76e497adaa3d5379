// The kernel family `trsm`: how many rows and columns are solved at once, and where X and R are kept.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::cuda {

[[nodiscard]] std::vector<Candidate> trsm_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::cuda
