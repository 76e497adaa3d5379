// How an inner product of 16-bit operands runs whose A has many columns: the constants of
// tsmttsm/kernels/tsmttsm_half.cuh and its launch. Pure functions.
#pragma once

#include <optional>

#include "tallskinny/gemm/device/tall_operand.hpp"

namespace ts::cuda {

/// Rows of a chunk.
inline constexpr int half_chunk_rows = 64;

/// The kernel; nothing where it cannot run the problem, or another one does as well.
[[nodiscard]] std::optional<KernelPlan> plan_half(const GpuProblem&, const DeviceInfo&);

}  // namespace ts::cuda
