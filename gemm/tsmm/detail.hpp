// The bodies behind tsmm and tsmm_in_place. Arguments are checked, and no operand is empty.
#pragma once

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::detail {

// What the operands must be, wherever they are.

/// Y = X op(S); gives op(S) but for conjugation.
template <class T, class R, class C, Space S>
Strided<R, S> expect_tsmm(Op op_s, const Strided<T, S>& x, const Strided<R, S>& s, const Strided<C, S>& y) {
  const auto op_of_s = op_s == Op::none ? s : s.transposed();
  expect_shape("tsmm", "op(S)", op_of_s, x.cols, op_of_s.cols, "as many rows as X has columns");
  expect_shape("tsmm", "Y", y, x.rows, op_of_s.cols, "rows of X by columns of op(S)");
  expect_disjoint("tsmm", y, "Y", x, "X");
  expect_disjoint("tsmm", y, "Y", s, "S");
  return op_of_s;
}

/// X = X op(S) in place; gives op(S) but for conjugation.
template <class T, class R, Space S>
Strided<R, S> expect_tsmm_in_place(Op op_s, const Strided<T, S>& x, const Strided<R, S>& s) {
  const auto op_of_s = op_s == Op::none ? s : s.transposed();
  expect_shape("tsmm_in_place", "op(S)", op_of_s, x.cols, op_of_s.cols, "as many rows as X has columns");
  expect_argument("tsmm_in_place", op_of_s.cols <= x.cols, "op(S) has more columns than X has room for");
  expect_disjoint("tsmm_in_place", x, "X", s, "S");
  return op_of_s;
}

/// How the operation that is wanted conjugates.
struct Conjugated {
  bool x = false, s = false;
};

/// Y (n x q) = alpha X S + beta Y for `operation`, tsmm or tsm2r. False, and nothing is done, where other
/// kernels serve better.
template <class T, class S>
[[nodiscard]] bool launch_wide(const Context& ctx, Operation operation, Conjugated conjugated, result_t<T> alpha,
                               DeviceStrided<const T> x, DeviceStrided<const S> s, result_t<T> beta,
                               DeviceStrided<result_t<T>> y);

}  // namespace ts::inline v0::detail

namespace ts::inline v0::reference {
template <class T>
void tsmm(Op, result_t<T> alpha, Strided<const T> x, Strided<const result_t<T>> s, result_t<T> beta,
          Strided<result_t<T>> y);
template <class T>
void tsmm_in_place(Op, T alpha, Strided<T> x, Strided<const T> s);
}  // namespace ts::inline v0::reference

namespace ts::inline v0::fast {
template <class T>
void tsmm(const Context&, Op, result_t<T> alpha, Strided<const T> x, Strided<const result_t<T>> s, result_t<T> beta,
          Strided<result_t<T>> y);
template <class T>
void tsmm_in_place(const Context&, Op, T alpha, Strided<T> x, Strided<const T> s);
}  // namespace ts::inline v0::fast
