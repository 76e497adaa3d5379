// Kernels with a thread, or a warp, for each row: pure functions of shapes.
#pragma once

#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::cuda {

/// A kernel that shares its rows among so many warps, or fewer that go on.
[[nodiscard]] KernelPlan assign_rows_plan(std::string_view family, DType type, index_t warps,
                                          const DeviceInfo& device);
/// A kernel with one thread for each of `count` things.
[[nodiscard]] KernelPlan assign_threads_plan(std::string_view family, DType type, Defines defines,
                                             index_t count);

}  // namespace ts::cuda
