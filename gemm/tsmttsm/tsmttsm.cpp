#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/tsmttsm/detail.hpp"

namespace ts::inline v0::detail {

template <class T>
void tsmttsm(const Context& ctx, Op op, result_t<T> alpha, Strided<const T> a, Strided<const T> b, result_t<T> beta,
             Strided<result_t<T>> c) {
  const UseHostMemory use(ctx.host_memory);
  expect_tsmttsm(op, a, b, c);
  if (c.empty()) return;
  if ((a.rows == 0 && !distributed(ctx)) || alpha == result_t<T>{}) return scale_output(beta, c);
  const Profile::Piece piece(ctx, {Operation::tsmttsm, dtype_of<T>, a.rows, a.cols, b.cols, beta != result_t<T>{}});
  if (ctx.implementation == Implementation::reference && !distributed(ctx))
    return reference::tsmttsm<T>(op, alpha, a, b, beta, c);
  fast::tsmttsm<T>(ctx, op, alpha, a, b, beta, c);
}

template <class T>
void gram(const Context& ctx, Op op, result_t<T> alpha, Strided<const T> a, result_t<T> beta, Strided<result_t<T>> c) {
  const UseHostMemory use(ctx.host_memory);
  expect_gram(op, a, c);
  if (c.empty()) return;
  if ((a.rows == 0 && !distributed(ctx)) || alpha == result_t<T>{}) return scale_output(beta, c);
  const Profile::Piece piece(ctx, {Operation::gram, dtype_of<T>, a.rows, a.cols, a.cols, beta != result_t<T>{}});
  if (ctx.implementation == Implementation::reference && !distributed(ctx))
    return reference::gram<T>(op, alpha, a, beta, c);
  fast::gram<T>(ctx, op, alpha, a, beta, c);
}

#define TS_INSTANTIATE(T)                                                                                    \
  template void tsmttsm<T>(const Context&, Op, result_t<T>, Strided<const T>, Strided<const T>, result_t<T>, \
                           Strided<result_t<T>>);                                                            \
  template void gram<T>(const Context&, Op, result_t<T>, Strided<const T>, result_t<T>, Strided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
