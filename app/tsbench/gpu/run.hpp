// An operation on device operands.
#pragma once

#include "tallskinny/app/tsbench/gpu/pool.hpp"

namespace ts::bench {

/// Once.
template <class T>
void run_on_gpu(const Context& ctx, const DeviceOperands<T>& o);

/// The kernels that this will start, for compiling them with others. Needs no GPU.
[[nodiscard]] std::vector<cuda::KernelPlan> kernels_of(const Case& c, const cuda::DeviceInfo& device,
                                                       Determinism determinism);

}  // namespace ts::bench
