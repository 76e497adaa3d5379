// The kernel family `column_norms`: how it cuts X, and what that takes.
#pragma once

#include <vector>

#include "tallskinny/gemm/plan/gpu_plan.hpp"

namespace ts::cuda {

/// The numbers of norms/kernels/column_norms.cuh.
struct ColumnNormsShape {
  index_t tile = 1;  ///< columns that one block works on
  int fold = 1;      ///< rows in a line
  int vector = 1;    ///< elements read at once
  int alignment = 1;
  index_t lines = 0, rest = 0;
  index_t tiles = 1, blocks_a_tile = 1;
};
[[nodiscard]] ColumnNormsShape column_norms_shape(const GpuProblem& problem, const DeviceInfo& device);

[[nodiscard]] std::vector<Candidate> column_norms_candidates(const GpuProblem& problem,
                                                             const DeviceInfo& device);

/// Numbers that a sum of squares takes: three ranges of float64, or one.
[[nodiscard]] index_t numbers_of_a_norm(DType type) noexcept;
[[nodiscard]] KernelPlan plan_norms_of_parts(DType type, index_t columns);

}  // namespace ts::cuda
