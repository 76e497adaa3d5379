// The kernels `spmm_rows` and, for long rows, `spmm_long`: how lanes share the columns and the entries of a
// row.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::cuda {

/// The most columns that one launch computes; wider blocks go through it in slabs.
[[nodiscard]] index_t spmm_widest(DType type) noexcept;

/// The numbers of the kernels that are free to choose.
struct SpmmTiling {
  index_t lanes = 1;   ///< that share the columns of a row, a power of two
  index_t split = 1;   ///< teams of lanes that share its entries, a power of two; lanes x split <= 32
  index_t unroll = 4;  ///< entries that a team has under way at the same time
  index_t blocks = 2;  ///< of 256 threads that a multiprocessor shall hold
};

/// The tiling that measurements favour (README of this room, 2026-11-21).
[[nodiscard]] SpmmTiling spmm_tiling(const GpuProblem& problem);
/// op is of the matrix whose rows are summed: adjoint conjugates its entries, nothing else.
[[nodiscard]] KernelPlan spmm_plan(const GpuProblem& problem, const SpmmTiling& tiling);
/// For so many parts of long rows.
[[nodiscard]] KernelPlan spmm_long_plan(const GpuProblem& problem, index_t parts);

[[nodiscard]] std::vector<Candidate> spmm_candidates(const GpuProblem& problem, const DeviceInfo& device);

}  // namespace ts::cuda
