// The kernel `random_fill`.
#pragma once

#include "tallskinny/gemm/plan/gpu_problem.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0::cuda {

/// For `lines` lines of `width` real numbers, float64 or float32, that lie so.
[[nodiscard]] KernelPlan plan_random_fill(DType type, const Form& form, index_t lines, index_t width,
                                          const DeviceInfo& device);

}  // namespace ts::inline v0::cuda
