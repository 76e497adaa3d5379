// The bodies behind spmm. Arguments are checked, Y is not empty and A has entries.
#pragma once

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/spmm/steps.hpp"

namespace ts::inline v0::reference {
template <class T, class I>
void spmm(Op, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x, result_t<T> beta,
          Strided<result_t<T>> y);
}  // namespace ts::inline v0::reference

namespace ts::inline v0::fast {
template <class T, class I>
void spmm(const Context&, Op, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x, result_t<T> beta,
          Strided<result_t<T>> y);
/// How many products X and Y, row-major blocks of so many columns, go through together.
template <class T, class I>
SpmmSteps spmm_steps(const Context&, const CsrView<T, Space::host, I>& a, index_t columns);
/// These products.
template <class T, class I>
void spmm_recurrence(const Context&, const SpmmSteps&, real_t<T> alpha, const CsrView<T, Space::host, I>& a,
                     real_t<T> shift, Strided<T> x, real_t<T> beta, Strided<T> y);
}  // namespace ts::inline v0::fast
