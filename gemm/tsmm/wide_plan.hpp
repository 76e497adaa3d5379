// The kernel family `tsmm_wide`: Y = alpha X op(S) + beta Y of a row-major X with so many columns that S does
// not fit beside it, and TSM2R of a row-major D, which is the same. Pure functions.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::cuda {

/// Columns of Y that one launch takes.
[[nodiscard]] index_t wide_widest(DType type) noexcept;

/// None where `tsmm` takes the problem, where the copy engine cannot take X, and where other kernels are
/// better.
[[nodiscard]] std::vector<Candidate> wide_candidates(const GpuProblem&, const DeviceInfo&);

/// What a launch takes from the plan of the product.
struct WideShape {
  int rows = 0;          ///< of a tile
  index_t panels = 0;    ///< of X
  index_t k_blocks = 0;  ///< of 16 scalars of all panels
  KernelPlan factor;     ///< lays out S
};
[[nodiscard]] WideShape wide_shape(const GpuProblem&, const KernelPlan&);

}  // namespace ts::cuda
