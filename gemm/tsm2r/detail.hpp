// The bodies behind tsm2r. Arguments are checked, and no operand is empty.
#pragma once

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::detail {

// What the operands must be, wherever they are.

/// Y = op(D) X; gives op(D) but for conjugation.
template <class T, class R, Space S>
Strided<T, S> expect_tsm2r(Op op_d, const Strided<T, S>& d, const Strided<T, S>& x, const Strided<R, S>& y) {
  const auto op_of_d = op_d == Op::none ? d : d.transposed();
  expect_shape("tsm2r", "X", x, op_of_d.cols, x.cols, "as many rows as op(D) has columns");
  expect_shape("tsm2r", "Y", y, op_of_d.rows, x.cols, "rows of op(D) by columns of X");
  expect_disjoint("tsm2r", y, "Y", d, "D");
  expect_disjoint("tsm2r", y, "Y", x, "X");
  return op_of_d;
}

}  // namespace ts::inline v0::detail

namespace ts::inline v0::reference {
template <class T>
void tsm2r(Op, result_t<T> alpha, Strided<const T> d, Strided<const T> x, result_t<T> beta, Strided<result_t<T>> y);
}  // namespace ts::inline v0::reference

namespace ts::inline v0::fast {
template <class T>
void tsm2r(const Context&, Op, result_t<T> alpha, Strided<const T> d, Strided<const T> x, result_t<T> beta,
           Strided<result_t<T>> y);
}  // namespace ts::inline v0::fast
