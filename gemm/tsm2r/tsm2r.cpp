#include "tallskinny/gemm/tsm2r/tsm2r.hpp"

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/tsm2r/detail.hpp"

namespace ts::inline v0::detail {

template <class T>
void tsm2r(const Context& ctx, Op op_d, result_t<T> alpha, Strided<const T> d, Strided<const T> x, result_t<T> beta,
           Strided<result_t<T>> y) {
  const UseHostMemory use(ctx.host_memory);
  expect_tsm2r(op_d, d, x, y);
  if (y.empty()) return;
  if (x.rows == 0 || alpha == result_t<T>{}) return scale_output(beta, y);
  const Profile::Piece piece(ctx, {Operation::tsm2r, dtype_of<T>, y.rows, x.rows, y.cols, beta != result_t<T>{}});
  if (ctx.implementation == Implementation::reference) return reference::tsm2r<T>(op_d, alpha, d, x, beta, y);
  fast::tsm2r<T>(ctx, op_d, alpha, d, x, beta, y);
}

#define TS_INSTANTIATE(T)                                                                                  \
  template void tsm2r<T>(const Context&, Op, result_t<T>, Strided<const T>, Strided<const T>, result_t<T>, \
                         Strided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
