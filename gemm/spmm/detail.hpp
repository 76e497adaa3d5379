// The bodies behind spmm. Arguments are checked, Y is not empty and A has entries.
#pragma once

#include <string_view>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/gemm/spmm/steps_policy.hpp"

namespace ts::detail {

/// What the profile calls them.
inline constexpr std::string_view steps_in_one_pass = "spmm, several steps";
/// Of `count` such products in one pass: A is read once, X and Y are read and, but for X of a single one, written.
[[nodiscard]] inline Cost cost_of_steps(const Problem& product, int count) {
  const Cost one = cost_of(product);
  const double block = static_cast<double>(product.n * product.q) * static_cast<double>(size_of(product.type));
  if (count == 1) return one;
  return {one.read_bytes + (product.accumulate ? 0 : block), one.written_bytes + block, count * one.flops};
}

}  // namespace ts::detail

namespace ts::reference {
template <class T, class I>
void spmm(Op, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x, result_t<T> beta,
          Strided<result_t<T>> y);
}  // namespace ts::reference

namespace ts::fast {
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
}  // namespace ts::fast
