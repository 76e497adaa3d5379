// Euclidean norms of the columns of a tall-skinny matrix.
#pragma once

#include <span>

#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0 {

namespace detail {
template <class T>
void column_norms(const Context&, Strided<const T> x, std::span<real_t<T>> norms);
template <class T>
void column_norms(const Context&, DeviceStrided<const T> x, DeviceStrided<real_t<T>> norms);
}  // namespace detail

/// norms[j] = ||X(:, j)||_2 for X n x p of any of the six types, without overflow or underflow for any finite
/// input (float32 and below are summed in float64; a float64 column is summed again, small and large numbers
/// scaled, only where the plain sum of squares leaves the safe range). NaN and Inf propagate. Bytes: n p s.
/// The bits do not depend on the number of threads.
/// @throws Error(invalid_argument) unless norms has p elements.
template <HostMatrix VX>
void column_norms(const Context& ctx, VX x, std::span<real_t<typename VX::value_type>> norms) {
  using T = typename VX::value_type;
  detail::column_norms<T>(ctx, Strided<const T>(x), norms);
}

/// The same on the GPU of ctx.stream, with norms a 1 x p matrix in its memory; does not wait for the result.
template <DeviceOperand VX, DeviceOperand VN>
void column_norms(const Context& ctx, VX x, VN norms) {
  using T = typename VX::value_type;
  detail::column_norms<T>(ctx, DeviceStrided<const T>(x), DeviceStrided<real_t<T>>(norms));
}

}  // namespace ts::inline v0
