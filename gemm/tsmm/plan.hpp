// The kernel family `tsmm`: tall times small products.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/tsmm/update_plan.hpp"

namespace ts::cuda {

[[nodiscard]] std::vector<Candidate> tsmm_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::cuda
