// Row-major matrices on a device copied to rows that lie otherwise, or into another precision.
#pragma once

#include "tallskinny/gemm/plan/gpu_problem.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/runtime/gpu/kernel_plan.hpp"

namespace ts::inline v0 {

namespace cuda {
/// Whose rows a list names.
enum class Listed { none, from, to };

/// The kernel for `rows` rows of `width` real numbers, of type float64 or float32 each.
[[nodiscard]] KernelPlan plan_copy_rows(DType to, const Form& to_form, DType from, const Form& from_form, index_t rows,
                                        index_t width, const DeviceInfo& device, Listed listed = Listed::none);
}  // namespace cuda

/// to = from on the device of ctx.stream, each number the nearest of its new type; in one precision the same
/// bits. The two share no element. The driver's two-dimensional copy does the same, but short rows far from
/// the roof. To, From: both real or both complex, of float64 or float32.
/// @throws Error(invalid_argument) for shapes that differ.
template <class To, class From>
void copy_rows(const Context& ctx, DeviceView<const From> from, DeviceView<To> to);

/// to[i] = from[rows[i]] on the device of ctx.stream, where `rows`, 1 x the rows of `to`, are too. T: one of the four
/// result types. @throws Error(invalid_argument) for shapes that do not fit.
template <class T>
void take_rows(const Context& ctx, DeviceView<const T> from, DeviceView<const std::int32_t> rows, DeviceView<T> to);
/// to[rows[i]] = from[i], no row twice; else as take_rows.
template <class T>
void put_rows(const Context& ctx, DeviceView<const T> from, DeviceView<const std::int32_t> rows, DeviceView<T> to);

}  // namespace ts::inline v0
