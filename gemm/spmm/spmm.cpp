#include "tallskinny/gemm/spmm/spmm.hpp"

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/spmm/detail.hpp"

namespace ts::detail {

template <class T, class I>
void spmm(const Context& ctx, Op op_a, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x,
          result_t<T> beta, Strided<result_t<T>> y) {
  expect_argument("spmm", a.rows >= 0 && a.cols >= 0, "A has negative rows or columns");
  expect_argument("spmm", a.rows == 0 || a.pointers != nullptr, "A has rows but no row pointers");
  expect_argument("spmm", a.nonzeros() >= 0 && (a.rows == 0 || a.pointers[0] == 0),
                  "A's row pointers must start at 0 and not decrease");
  expect_argument("spmm", a.nonzeros() == 0 || (a.indices != nullptr && a.values != nullptr),
                  "A has entries but no column numbers or values");
  const index_t m = op_a == Op::none ? a.rows : a.cols, n = op_a == Op::none ? a.cols : a.rows;
  expect_shape("spmm", "X", x, n, x.cols, "as many rows as op(A) has columns");
  expect_shape("spmm", "Y", y, m, x.cols, "rows of op(A) by columns of X");
  expect_disjoint("spmm", y, "Y", x, "X");
  if (y.empty()) return;
  if (a.nonzeros() == 0 || alpha == result_t<T>{}) return scale_output(beta, y);
  Problem problem{Operation::spmm, dtype_of<T>, m, n, y.cols, beta != result_t<T>{}};
  problem.nonzeros = a.nonzeros(), problem.index_bytes = static_cast<int>(sizeof(I));
  const Profile::Piece piece(ctx, problem);
  if (ctx.implementation == Implementation::reference) return reference::spmm<T, I>(op_a, alpha, a, x, beta, y);
  fast::spmm<T, I>(ctx, op_a, alpha, a, x, beta, y);
}

#define TS_INSTANTIATE_INDEX(T, I)                                                                                     \
  template void spmm<T, I>(const Context&, Op, result_t<T>, CsrView<T, Space::host, I>, Strided<const T>, result_t<T>, \
                           Strided<result_t<T>>);
#define TS_INSTANTIATE(T) TS_INSTANTIATE_INDEX(T, std::int32_t) TS_INSTANTIATE_INDEX(T, std::int64_t)
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#undef TS_INSTANTIATE_INDEX

}  // namespace ts::detail
