// The bodies behind tsmm and tsmm_in_place. Arguments are checked, and no operand is empty.
#pragma once

#include "tallskinny/gemm/backend/context.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::reference {
template <class T>
void tsmm(Op, result_t<T> alpha, Strided<const T> x, Strided<const result_t<T>> s, result_t<T> beta,
          Strided<result_t<T>> y);
template <class T>
void tsmm_in_place(Op, T alpha, Strided<T> x, Strided<const T> s);
}  // namespace ts::reference

namespace ts::fast {
template <class T>
void tsmm(const Context&, Op, result_t<T> alpha, Strided<const T> x, Strided<const result_t<T>> s,
          result_t<T> beta, Strided<result_t<T>> y);
template <class T>
void tsmm_in_place(const Context&, Op, T alpha, Strided<T> x, Strided<const T> s);
}  // namespace ts::fast
