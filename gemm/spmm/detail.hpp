// The bodies behind spmm. Arguments are checked, Y is not empty and A has entries.
#pragma once

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::reference {
template <class T, class I>
void spmm(Op, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x, result_t<T> beta,
          Strided<result_t<T>> y);
}  // namespace ts::reference

namespace ts::fast {
template <class T, class I>
void spmm(const Context&, Op, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x, result_t<T> beta,
          Strided<result_t<T>> y);
}  // namespace ts::fast
