// TSMTTSM: transposed tall-skinny matrix times tall-skinny matrix, a small result.
#pragma once

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

namespace detail {
template <class T>
void tsmttsm(const Context&, Op, result_t<T> alpha, Strided<const T> a, Strided<const T> b, result_t<T> beta,
             Strided<result_t<T>> c);
template <class T>
void gram(const Context&, Op, result_t<T> alpha, Strided<const T> a, result_t<T> beta, Strided<result_t<T>> c);
template <class T>
void tsmttsm(const Context&, Op, result_t<T> alpha, DeviceStrided<const T> a, DeviceStrided<const T> b,
             result_t<T> beta, DeviceStrided<result_t<T>> c);
template <class T>
void gram(const Context&, Op, result_t<T> alpha, DeviceStrided<const T> a, result_t<T> beta,
          DeviceStrided<result_t<T>> c);
}  // namespace detail

/// C = alpha op(A) B + beta C, with A n x p, B n x q, C p x q, op = transpose or adjoint.
/// Element types: A and B of one of the six types T, C and the scalars of result_t<T>. C must not overlap A
/// or B. beta = 0 never reads C; n = 0 gives beta C. Each partial sum belongs to a row chunk that the shape
/// alone fixes, and chunks are added in a fixed tree: the bits do not depend on the number of threads. Bytes:
/// n (p + q) s; flops: 2 n p q (complex: 8 n p q). Source: Ernst et al. 2020, "Performance engineering for
/// real and complex tall & skinny matrix multiplication kernels on GPUs"; Tang et al. 2021 for folding narrow
/// widths into one vector.
/// @throws Error(invalid_argument) for op = none or shapes that do not fit.
template <HostMatrix VA, HostMatrix VB, HostMatrix VC>
void tsmttsm(const Context& ctx, Op op, result_t<typename VA::value_type> alpha, VA a, VB b,
             result_t<typename VA::value_type> beta, VC c) {
  using T = typename VA::value_type;
  detail::tsmttsm<T>(ctx, op, alpha, Strided<const T>(a), Strided<const T>(b), beta, Strided<result_t<T>>(c));
}

/// The same on the GPU of ctx.stream; alpha and beta are values of the host. Does not wait for the result.
template <DeviceOperand VA, DeviceOperand VB, DeviceOperand VC>
void tsmttsm(const Context& ctx, Op op, result_t<typename VA::value_type> alpha, VA a, VB b,
             result_t<typename VA::value_type> beta, VC c) {
  using T = typename VA::value_type;
  detail::tsmttsm<T>(ctx, op, alpha, DeviceStrided<const T>(a), DeviceStrided<const T>(b), beta,
                     DeviceStrided<result_t<T>>(c));
}

/// The Gram matrix C = alpha op(A) A + beta C, with A n x p, C p x p, at half the flops of tsmttsm(A, A):
/// one triangle is computed and mirrored, so that C is exactly symmetric (transpose) or Hermitian with a real
/// diagonal (adjoint), given that beta C is and alpha is real.
/// Bytes: n p s; flops: n p (p + 1) (complex: 4 n p (p + 1)).
/// @throws Error(invalid_argument) for op = none or shapes that do not fit.
template <HostMatrix VA, HostMatrix VC>
void gram(const Context& ctx, Op op, result_t<typename VA::value_type> alpha, VA a,
          result_t<typename VA::value_type> beta, VC c) {
  using T = typename VA::value_type;
  detail::gram<T>(ctx, op, alpha, Strided<const T>(a), beta, Strided<result_t<T>>(c));
}

/// The same on the GPU of ctx.stream; alpha and beta are values of the host. Does not wait for the result.
template <DeviceOperand VA, DeviceOperand VC>
void gram(const Context& ctx, Op op, result_t<typename VA::value_type> alpha, VA a,
          result_t<typename VA::value_type> beta, VC c) {
  using T = typename VA::value_type;
  detail::gram<T>(ctx, op, alpha, DeviceStrided<const T>(a), beta, DeviceStrided<result_t<T>>(c));
}

}  // namespace ts::inline v0
