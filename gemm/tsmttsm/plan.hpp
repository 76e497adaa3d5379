// The kernel family `tsmttsm`: inner products of tall operands, and TSM2R, which is one: the rows of D are
// the columns of a tall matrix that is read once, in panels.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/tsmttsm/inner_plan.hpp"

namespace ts::cuda {

/// The problem with A cut into panels of so many columns.
[[nodiscard]] InnerProblem inner_problem_of(const GpuProblem& problem, index_t panel);
/// Of how many panels a candidate takes care.
[[nodiscard]] index_t inner_panels(const GpuProblem& problem, const KernelPlan& plan);

[[nodiscard]] std::vector<Candidate> inner_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::cuda
