// TSM2R: large dense matrix times tall-skinny matrix, a tall-skinny result.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

namespace detail {
template <class T>
void tsm2r(const Context&, Op, result_t<T> alpha, Strided<const T> d, Strided<const T> x, result_t<T> beta,
           Strided<result_t<T>> y);
template <class T>
void tsm2r(const Context&, Op, result_t<T> alpha, DeviceStrided<const T> d, DeviceStrided<const T> x, result_t<T> beta,
           DeviceStrided<result_t<T>> y);
}  // namespace detail

/// Y = alpha op(D) X + beta Y, with op(D) m x n large, X n x q, Y m x q, q small.
/// D and X are of one of the six types T; Y and the scalars of result_t<T>. Y must not overlap D or X.
/// beta = 0 never reads Y. Bytes: m n s + n q s + m q s; flops: 2 m n q (complex: 8 m n q).
/// The bits do not depend on the number of threads.
/// Source: Rivera et al. 2021, "TSM2X: High-performance tall-and-skinny matrix-matrix multiplication on
/// GPUs".
/// @throws Error(invalid_argument) for shapes that do not fit.
template <HostMatrix VD, HostMatrix VX, HostMatrix VY>
void tsm2r(const Context& ctx, Op op_d, result_t<typename VD::value_type> alpha, VD d, VX x,
           result_t<typename VD::value_type> beta, VY y) {
  using T = typename VD::value_type;
  detail::tsm2r<T>(ctx, op_d, alpha, Strided<const T>(d), Strided<const T>(x), beta, Strided<result_t<T>>(y));
}

/// The same on the GPU of ctx.stream; alpha and beta are values of the host. Does not wait for the result.
template <DeviceOperand VD, DeviceOperand VX, DeviceOperand VY>
void tsm2r(const Context& ctx, Op op_d, result_t<typename VD::value_type> alpha, VD d, VX x,
           result_t<typename VD::value_type> beta, VY y) {
  using T = typename VD::value_type;
  detail::tsm2r<T>(ctx, op_d, alpha, DeviceStrided<const T>(d), DeviceStrided<const T>(x), beta,
                   DeviceStrided<result_t<T>>(y));
}

}  // namespace ts::inline v0
