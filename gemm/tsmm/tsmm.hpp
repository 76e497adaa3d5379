// TSMM: tall-skinny matrix times small matrix, a tall-skinny result.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

namespace detail {
template <class T>
void tsmm(const Context&, Op, result_t<T> alpha, Strided<const T> x, Strided<const result_t<T>> s, result_t<T> beta,
          Strided<result_t<T>> y);
template <class T>
void tsmm_in_place(const Context&, Op, T alpha, Strided<T> x, Strided<const T> s);
template <class T>
void tsmm(const Context&, Op, result_t<T> alpha, DeviceStrided<const T> x, DeviceStrided<const result_t<T>> s,
          result_t<T> beta, DeviceStrided<result_t<T>> y);
template <class T>
void tsmm_in_place(const Context&, Op, T alpha, DeviceStrided<T> x, DeviceStrided<const T> s);
}  // namespace detail

/// Y = alpha X op(S) + beta Y, with X n x p, op(S) p x q, Y n x q.
/// X is of one of the six types T; S, Y and the scalars are of result_t<T>. Y must not overlap X or S.
/// beta = 0 never reads Y. Bytes: n (p s_in + q s_out), plus n q s_out for beta != 0; flops: 2 n p q
/// (complex: 8 n p q). Each row is computed alone, or on a processor by a BLAS in pieces that the shape fixes
/// (cpu/library.hpp): the bits do not depend on the number of threads.
/// @throws Error(invalid_argument) for shapes that do not fit.
template <HostMatrix VX, HostMatrix VS, HostMatrix VY>
void tsmm(const Context& ctx, Op op_s, result_t<typename VX::value_type> alpha, VX x, VS s,
          result_t<typename VX::value_type> beta, VY y) {
  using T = typename VX::value_type;
  using R = result_t<T>;
  detail::tsmm<T>(ctx, op_s, alpha, Strided<const T>(x), Strided<const R>(s), beta, Strided<R>(y));
}

/// The same on the GPU of ctx.stream; alpha and beta are values of the host. Does not wait for the result.
template <DeviceOperand VX, DeviceOperand VS, DeviceOperand VY>
void tsmm(const Context& ctx, Op op_s, result_t<typename VX::value_type> alpha, VX x, VS s,
          result_t<typename VX::value_type> beta, VY y) {
  using T = typename VX::value_type;
  using R = result_t<T>;
  detail::tsmm<T>(ctx, op_s, alpha, DeviceStrided<const T>(x), DeviceStrided<const R>(s), beta, DeviceStrided<R>(y));
}

/// X(:, 0 .. q-1) = alpha X op(S), with X n x p and op(S) p x q, q <= p: the basis change of a restarted
/// Krylov method without a second basis. Columns q .. p-1 of X keep their content. T is one of the four
/// result types.
/// @throws Error(invalid_argument) for shapes that do not fit.
template <HostMatrix VX, HostMatrix VS>
void tsmm_in_place(const Context& ctx, Op op_s, typename VX::value_type alpha, VX x, VS s) {
  using T = typename VX::value_type;
  detail::tsmm_in_place<T>(ctx, op_s, alpha, Strided<T>(x), Strided<const T>(s));
}

/// The same on the GPU of ctx.stream; alpha is a value of the host. Does not wait for the result.
template <DeviceOperand VX, DeviceOperand VS>
void tsmm_in_place(const Context& ctx, Op op_s, typename VX::value_type alpha, VX x, VS s) {
  using T = typename VX::value_type;
  detail::tsmm_in_place<T>(ctx, op_s, alpha, DeviceStrided<T>(x), DeviceStrided<const T>(s));
}

}  // namespace ts::inline v0
