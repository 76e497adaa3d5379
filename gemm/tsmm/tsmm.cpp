#include "tallskinny/gemm/tsmm/tsmm.hpp"

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/tsmm/detail.hpp"

namespace ts::inline v0::detail {

template <class T>
void tsmm(const Context& ctx, Op op_s, result_t<T> alpha, Strided<const T> x, Strided<const result_t<T>> s,
          result_t<T> beta, Strided<result_t<T>> y) {
  const UseHostMemory use(ctx.host_memory);
  expect_tsmm(op_s, x, s, y);
  if (y.empty()) return;
  if (x.cols == 0 || alpha == result_t<T>{}) return scale_output(beta, y);
  const Profile::Piece piece(ctx, {Operation::tsmm, dtype_of<T>, x.rows, x.cols, y.cols, beta != result_t<T>{}});
  if (ctx.implementation == Implementation::reference) return reference::tsmm<T>(op_s, alpha, x, s, beta, y);
  fast::tsmm<T>(ctx, op_s, alpha, x, s, beta, y);
}

template <class T>
void tsmm_in_place(const Context& ctx, Op op_s, T alpha, Strided<T> x, Strided<const T> s) {
  const UseHostMemory use(ctx.host_memory);
  const auto op_of_s = expect_tsmm_in_place(op_s, x, s);
  if (x.empty() || op_of_s.cols == 0) return;
  if (alpha == T{}) {
    x.cols = op_of_s.cols;
    return scale_output(T{}, x);
  }
  const Profile::Piece piece(ctx, {Operation::tsmm_in_place, dtype_of<T>, x.rows, x.cols, op_of_s.cols});
  if (ctx.implementation == Implementation::reference) return reference::tsmm_in_place<T>(op_s, alpha, x, s);
  fast::tsmm_in_place<T>(ctx, op_s, alpha, x, s);
}

#define TS_INSTANTIATE(T)                                                                                           \
  template void tsmm<T>(const Context&, Op, result_t<T>, Strided<const T>, Strided<const result_t<T>>, result_t<T>, \
                        Strided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T) template void tsmm_in_place<T>(const Context&, Op, T, Strided<T>, Strided<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
