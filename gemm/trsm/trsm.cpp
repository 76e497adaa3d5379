#include "tallskinny/gemm/trsm/trsm.hpp"

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/trsm/detail.hpp"

namespace ts::inline v0::detail {

template <class T>
void trsm(const Context& ctx, Strided<T> x, Strided<const T> r) {
  const UseHostMemory use(ctx.host_memory);
  expect_shape("trsm", "R", r, x.cols, x.cols, "square, with the columns of X");
  expect_disjoint("trsm", x, "X", r, "R");
  if (x.empty()) return;
  const Profile::Piece piece(ctx, {Operation::trsm, dtype_of<T>, x.rows, x.cols, x.cols});
  if (ctx.implementation == Implementation::reference) return reference::trsm<T>(x, r);
  fast::trsm<T>(ctx, x, r);
}

#define TS_INSTANTIATE(T) template void trsm<T>(const Context&, Strided<T>, Strided<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
