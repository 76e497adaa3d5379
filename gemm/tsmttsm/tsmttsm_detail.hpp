// The bodies behind tsmttsm and gram. Arguments are checked, and neither the product nor C is empty.
#pragma once

#include "tallskinny/gemm/backend/context.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::reference {
template <class T>
void tsmttsm(Op, result_t<T> alpha, Strided<const T> a, Strided<const T> b, result_t<T> beta,
             Strided<result_t<T>> c);
template <class T>
void gram(Op, result_t<T> alpha, Strided<const T> a, result_t<T> beta, Strided<result_t<T>> c);
}  // namespace ts::reference

namespace ts::fast {
template <class T>
void tsmttsm(const Context&, Op, result_t<T> alpha, Strided<const T> a, Strided<const T> b, result_t<T> beta,
             Strided<result_t<T>> c);
template <class T>
void gram(const Context&, Op, result_t<T> alpha, Strided<const T> a, result_t<T> beta,
          Strided<result_t<T>> c);
}  // namespace ts::fast
