// SpMM: sparse matrix (CSR) times tall-skinny matrix.
#pragma once

#include <span>
#include <utility>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/spmm/steps.hpp"

namespace ts::inline v0 {

namespace detail {
template <class T, class I>
void spmm(const Context&, Op, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x, result_t<T> beta,
          Strided<result_t<T>> y);
template <class T, class I>
void spmm(const Context&, Op, result_t<T> alpha, CsrView<T, Space::device, I> a, result_t<T> shift,
          DeviceStrided<const T> x, result_t<T> beta, DeviceStrided<result_t<T>> y);
/// `count` steps, of `rows` each, or of all where it is empty.
struct Recurrence {
  index_t count = 0;
  std::span<const StepRows> rows = {};
};
template <class T, class I>
void spmm_recurrence(const Context&, const Recurrence&, real_t<T> alpha, CsrView<T, Space::host, I> a, real_t<T> shift,
                     Strided<T> x, real_t<T> beta, Strided<T> y);
template <class T, class I>
index_t steps_together(const Context&, const CsrView<T, Space::host, I>& a, index_t columns);
template <class T, class I>
void spmm_residual(const Context&, CsrView<T, Space::device, I> a, DeviceStrided<const T> x,
                   DeviceView<const double> theta, DeviceStrided<T> r);
}  // namespace detail

/// Y = alpha op(A) X + beta Y, with op(A) m x n sparse, X n x q, Y m x q.
/// A and X are of one of the six types T; Y and the scalars of result_t<T>. Y must not overlap X.
/// beta = 0 never reads Y. Bytes: at least nnz (s + sizeof(I)) + 8 m + n q s + m q s_out; flops: 2 nnz q.
/// Entries of a row are added in stored order: the bits do not depend on the number of threads.
/// @throws Error(invalid_argument) for shapes that do not fit.
template <class T, class I, HostMatrix VX, HostMatrix VY>
void spmm(const Context& ctx, Op op_a, result_t<T> alpha, CsrView<T, Space::host, I> a, VX x, result_t<T> beta, VY y) {
  detail::spmm<T, I>(ctx, op_a, alpha, a, Strided<const T>(x), beta, Strided<result_t<T>>(y));
}

/// The same on the GPU of ctx.stream; does not wait for the result. Other ops than none take a matrix that
/// keeps its transposed (DeviceCsrMatrix::keep_transposed). Row-major X and Y are read and written in whole
/// lines; column-major ones are accepted. Matrices of rows of very unlike length are summed in parts of equal work, in
/// a fixed order.
template <class T, class I, DeviceOperand VX, DeviceOperand VY>
void spmm(const Context& ctx, Op op_a, result_t<T> alpha, CsrView<T, Space::device, I> a, VX x, result_t<T> beta,
          VY y) {
  detail::spmm<T, I>(ctx, op_a, alpha, a, result_t<T>{}, DeviceStrided<const T>(x), beta,
                     DeviceStrided<result_t<T>>(y));
}

/// Y = alpha (A - shift I) X + beta Y on the GPU of ctx.stream, for a square A: one step of a polynomial in
/// A. A may have more columns than rows, and X more rows than Y: then I has ones where it is square.
/// @throws Error(invalid_argument) for shapes that do not fit.
template <class T, class I, DeviceOperand VX, DeviceOperand VY>
void spmm_shifted(const Context& ctx, result_t<T> alpha, CsrView<T, Space::device, I> a, result_t<T> shift, VX x,
                  result_t<T> beta, VY y) {
  detail::spmm<T, I>(ctx, Op::none, alpha, a, shift, DeviceStrided<const T>(x), beta, DeviceStrided<result_t<T>>(y));
}

/// `count` times Y = alpha (A - shift I) X + beta Y, after each of which X and Y change places, for a square A: a
/// three-term recurrence. The last product is in Y where `count` is odd, else in X. beta = 0 never reads Y. Where
/// a.facts.reach tells that the columns of a row are near its diagonal (reach_of), several steps pass through A, X and
/// Y together, so that memory is read less often; bits depend neither on that nor on the number of threads. For one
/// step A may have more columns than rows, and X more rows than Y. T: one of the four result types.
/// @throws Error(invalid_argument) for shapes that do not fit.
template <class T, class I, HostMatrix VX, HostMatrix VY>
void spmm_recurrence(const Context& ctx, index_t count, real_t<T> alpha, CsrView<T, Space::host, I> a, real_t<T> shift,
                     VX x, real_t<T> beta, VY y) {
  detail::spmm_recurrence<T, I>(ctx, {count}, alpha, a, shift, Strided<T>(x), beta, Strided<T>(y));
}

/// The same, where step k computes rows[k] alone: what other rows of its Y hold stays.
/// @throws Error(invalid_argument) as above, and for rows that A does not have.
template <class T, class I, HostMatrix VX, HostMatrix VY>
void spmm_recurrence(const Context& ctx, std::span<const StepRows> rows, real_t<T> alpha, CsrView<T, Space::host, I> a,
                     real_t<T> shift, VX x, real_t<T> beta, VY y) {
  detail::spmm_recurrence<T, I>(ctx, {std::ssize(rows), rows}, alpha, a, shift, Strided<T>(x), beta, Strided<T>(y));
}

/// How many steps of a recurrence pass through A and row-major blocks of so many columns together, at most.
template <class T, class I>
[[nodiscard]] index_t steps_together(const Context& ctx, const CsrView<T, Space::host, I>& a, index_t columns) {
  return detail::steps_together<T, I>(ctx, a, columns);
}

/// The same on the GPU of ctx.stream, step by step: there several together were not faster (docs/notes/spmm.md).
template <class T, class I, DeviceOperand VX, DeviceOperand VY>
void spmm_recurrence(const Context& ctx, index_t count, real_t<T> alpha, CsrView<T, Space::device, I> a,
                     real_t<T> shift, VX x, real_t<T> beta, VY y) {
  DeviceStrided<T> from(x), to(y);
  for (; count > 0; --count, std::swap(from, to))
    detail::spmm<T, I>(ctx, Op::none, T{alpha}, a, T{shift}, DeviceStrided<const T>(from), T{beta}, to);
}

/// R = A X - X diag(theta) on the GPU of ctx.stream, for a square A, X and R n x q, theta 1 x q: each element a sum of
/// float64 products whose rounding errors are summed beside it (Ogita, Rump and Oishi 2005, Dot2), rounded once. Its
/// error is u |r| + (m u)^2 |A| |x| for rows of m entries, u of float64 but for that last rounding. Rows of any length;
/// a fixed order. T: one of the four result types. A may have more columns than rows, and X more rows than R.
/// @throws Error(invalid_argument) for shapes that do not fit.
template <class T, class I, DeviceOperand VX, DeviceOperand VR>
void spmm_residual(const Context& ctx, CsrView<T, Space::device, I> a, VX x, DeviceView<const double> theta, VR r) {
  detail::spmm_residual<T, I>(ctx, a, DeviceStrided<const T>(x), theta, DeviceStrided<T>(r));
}

}  // namespace ts::inline v0
