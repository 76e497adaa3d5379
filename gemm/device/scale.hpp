// Scalars of any type as arguments of kernels. A = beta A on the device: what is left of an operation whose product is
// empty.
#pragma once

#include "tallskinny/gemm/device/arguments.hpp"
#include "tallskinny/gemm/plan/gpu_problem.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0::cuda {

template <class R>
[[nodiscard]] ScalarArgument scalars_of(R x) noexcept {
  if constexpr (is_complex<R>)
    return {x.real(), x.imag()};
  else
    return {x, 0};
}

/// The kernel for `lines` lines of `width` elements of a result type.
[[nodiscard]] KernelPlan plan_scale(DType type, const Form& form, index_t lines, index_t width,
                                    const DeviceInfo& device);

}  // namespace ts::inline v0::cuda

namespace ts::inline v0::detail {

/// out = beta out, where beta = 0 never reads out. The device twin of core/checks.hpp's.
template <class R>
void scale_output(const Context& ctx, R beta, const DeviceStrided<R>& out);

}  // namespace ts::inline v0::detail
