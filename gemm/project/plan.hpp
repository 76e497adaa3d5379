// The kernel family `project`: how warps share the steps of block Gram-Schmidt. Pure functions.
#pragma once

#include <vector>

#include "tallskinny/gemm/device/tall_operand.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::inline v0::cuda {

/// The columns of V and of W that one launch takes; wider operands are cut by the caller. `in_parts`: of
/// products whose sums are left in parts.
struct ProjectPanels {
  index_t v = 1, w = 1;
};
[[nodiscard]] ProjectPanels project_panels(DType type, index_t p, index_t q, const BlockLimits& limits,
                                           bool in_parts = false);

/// V n x p (which may be 0 where nothing but a Gram matrix is wanted) stands first, W n x q second.
[[nodiscard]] std::vector<Candidate> project_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::inline v0::cuda
