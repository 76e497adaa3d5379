// The operation of a case, once.
#pragma once

#include "tallskinny/app/tsbench/operands.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::bench {

/// On the place where the operands are; does not wait for a GPU.
template <class T, Space S>
void run(const Context& ctx, const Operands<T, S>& o);

/// The kernels that this will start on a GPU, for compiling them with others. Needs no GPU.
[[nodiscard]] std::vector<cuda::KernelPlan> kernels_of(const Case& c, const cuda::DeviceInfo& device,
                                                       Determinism determinism);

}  // namespace ts::bench
