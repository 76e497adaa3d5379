// What the GPU itself can do: the roofs that every measured operation is judged against.
#pragma once

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::app {

/// The kernels that measure: reading by bulk copies (where there are such) and by loads, and each arithmetic
/// unit.
[[nodiscard]] std::vector<cuda::KernelPlan> roof_plans(const cuda::DeviceInfo& device);

/// The device of ctx.stream with its rates as measured now: reading and copying `source` (far larger than the
/// caches) to `target`, and multiply-adds from registers. The best of several rounds.
[[nodiscard]] cuda::DeviceInfo measure_gpu_roofs(const Context& ctx, const cuda::Memory& source,
                                                 const cuda::Memory& target);

}  // namespace ts::app
