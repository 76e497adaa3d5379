// The same matrix in the other layout.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0 {

namespace cuda {
/// The kernel that moves a rows x cols matrix of elements of `bytes` bytes from rows to columns or back.
[[nodiscard]] KernelPlan plan_convert(std::size_t bytes, int alignment, bool from_rows, index_t rows, index_t cols,
                                      const DeviceInfo& device);
}  // namespace cuda

namespace detail {
template <class T>
void convert(const Context&, DeviceStrided<const T> from, DeviceStrided<T> to);
}  // namespace detail

/// to = from, where one is row-major and the other column-major; on the device of ctx.stream.
/// @throws Error(invalid_argument) for shapes that differ and for operands that overlap.
template <class T, Layout LT, class F, Layout LF>
requires(std::is_same_v<T, std::remove_const_t<F>>&& LT != LF) void convert(const Context& ctx, DeviceView<F, LF> from,
                                                                            DeviceView<T, LT> to) {
  detail::convert<T>(ctx, DeviceStrided<const T>(from), DeviceStrided<T>(to));
}

}  // namespace ts::inline v0
