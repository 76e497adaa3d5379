// The bodies behind tsm2r. Arguments are checked, and no operand is empty.
#pragma once

#include "tallskinny/gemm/backend/context.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::reference {
template <class T>
void tsm2r(Op, result_t<T> alpha, Strided<const T> d, Strided<const T> x, result_t<T> beta,
           Strided<result_t<T>> y);
}  // namespace ts::reference

namespace ts::fast {
template <class T>
void tsm2r(const Context&, Op, result_t<T> alpha, Strided<const T> d, Strided<const T> x, result_t<T> beta,
           Strided<result_t<T>> y);
}  // namespace ts::fast
