// Triangular solve with a small factor, from the right: the scaling step of Cholesky QR.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

namespace detail {
template <class T>
void trsm(const Context&, Strided<T> x, Strided<const T> r);
template <class T>
void trsm(const Context&, DeviceStrided<T> x, DeviceStrided<const T> r);
}  // namespace detail

/// X = X R^-1 in place, with X n x p and R p x p upper triangular (its lower triangle is not read), by
/// substitution along each row. T: one of the four result types. Bytes: 2 n p s; flops: n p^2 (complex: 4 n
/// p^2). A zero on the diagonal gives Inf and NaN as in BLAS. Each row is computed alone: the bits do not
/// depend on the number of threads. @throws Error(invalid_argument) for shapes that do not fit.
template <HostMatrix VX, HostMatrix VR>
void trsm(const Context& ctx, VX x, VR r) {
  using T = typename VX::value_type;
  detail::trsm<T>(ctx, Strided<T>(x), Strided<const T>(r));
}

/// The same on the GPU of ctx.stream; does not wait for the result.
template <DeviceOperand VX, DeviceOperand VR>
void trsm(const Context& ctx, VX x, VR r) {
  using T = typename VX::value_type;
  detail::trsm<T>(ctx, DeviceStrided<T>(x), DeviceStrided<const T>(r));
}

}  // namespace ts::inline v0
