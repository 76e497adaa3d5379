// The bodies behind tsmttsm and gram. Arguments are checked, and neither the product nor C is empty.
#pragma once

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::detail {

// What the operands must be, wherever they are.

/// C = op(A) B.
template <class T, class R, Space S>
void expect_tsmttsm(Op op, const Strided<T, S>& a, const Strided<T, S>& b, const Strided<R, S>& c) {
  expect_argument("tsmttsm", op != Op::none, "op must be transpose or adjoint");
  expect_shape("tsmttsm", "B", b, a.rows, b.cols, "as many rows as A");
  expect_shape("tsmttsm", "C", c, a.cols, b.cols, "columns of A by columns of B");
  expect_disjoint("tsmttsm", c, "C", a, "A");
  expect_disjoint("tsmttsm", c, "C", b, "B");
}

/// C = op(A) A.
template <class T, class R, Space S>
void expect_gram(Op op, const Strided<T, S>& a, const Strided<R, S>& c) {
  expect_argument("gram", op != Op::none, "op must be transpose or adjoint");
  expect_shape("gram", "C", c, a.cols, a.cols, "columns of A by columns of A");
  expect_disjoint("gram", c, "C", a, "A");
}

}  // namespace ts::inline v0::detail

namespace ts::inline v0::reference {
template <class T>
void tsmttsm(Op, result_t<T> alpha, Strided<const T> a, Strided<const T> b, result_t<T> beta, Strided<result_t<T>> c);
template <class T>
void gram(Op, result_t<T> alpha, Strided<const T> a, result_t<T> beta, Strided<result_t<T>> c);
}  // namespace ts::inline v0::reference

namespace ts::inline v0::fast {
template <class T>
void tsmttsm(const Context&, Op, result_t<T> alpha, Strided<const T> a, Strided<const T> b, result_t<T> beta,
             Strided<result_t<T>> c);
template <class T>
void gram(const Context&, Op, result_t<T> alpha, Strided<const T> a, result_t<T> beta, Strided<result_t<T>> c);
}  // namespace ts::inline v0::fast
