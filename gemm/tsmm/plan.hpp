// The kernel families `tsmm` and `tsmm_wide`: Y = alpha X op(S) + beta Y of tall X and Y, and TSM2R of a row-major D,
// which is a wide X. Pure functions.
#pragma once

#include <vector>

#include "tallskinny/gemm/device/tall_operand.hpp"
#include "tallskinny/gemm/plan/gpu_plan.hpp"
#include "tallskinny/gemm/tsmm/policy.hpp"

namespace ts::inline v0::cuda {

[[nodiscard]] std::vector<Candidate> tsmm_candidates(const GpuProblem&, const DeviceInfo&);

/// Columns of X and of Y that one launch can take however they lie; wider operands are cut by the caller.
[[nodiscard]] index_t tsmm_widest(DType, const BlockLimits&);

/// None where `tsmm` takes the problem, where the copy engine cannot take X, and where other kernels are better.
[[nodiscard]] std::vector<Candidate> wide_candidates(const GpuProblem&, const DeviceInfo&);

/// Columns of Y that one launch takes.
[[nodiscard]] index_t wide_widest(DType type) noexcept;

/// What a launch takes from the plan of the product.
struct WideShape {
  int rows = 0;          ///< of a tile
  index_t panels = 0;    ///< of X
  index_t k_blocks = 0;  ///< of 16 scalars of all panels
  KernelPlan factor;     ///< lays out S
};
[[nodiscard]] WideShape wide_shape(const GpuProblem&, const KernelPlan&);

}  // namespace ts::inline v0::cuda
