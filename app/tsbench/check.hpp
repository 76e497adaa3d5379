// A measured result is checked before it is timed.
#pragma once

#include <array>
#include <vector>

#include "tallskinny/app/tsbench/operands.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::bench {

/// The largest error of sampled entries of the result in `o` (just computed from operands whose values are those of
/// operands.hpp), relative to the a-priori bound of the operation (error_bound.hpp): at most 1 when right. Rows of tall
/// results are computed again in long double; entries of sums over rows are compared with sums in long
/// double, or on a GPU in twice float64's precision.
template <class T, Space S>
[[nodiscard]] double worst_error(const Context& ctx, const Operands<T, S>& o);

/// sum_k conj(a(k, i)) b(k, j), and the sum of the sizes of these terms.
struct InnerSum {
  long double re = 0, im = 0, size = 0;
};
/// For each entry (i, j). Those of device memory: gpu/kernels.hpp.
template <class T>
[[nodiscard]] std::vector<InnerSum> inner_sums(const Context& ctx, Strided<const T> a, Strided<const T> b,
                                               std::span<const std::array<index_t, 2>> entries);
/// to(s, :) = a(rows[s], :), row after row.
template <class T>
void gather(const Context& ctx, std::span<T> to, Strided<const T> a, std::span<const index_t> rows);

}  // namespace ts::bench
