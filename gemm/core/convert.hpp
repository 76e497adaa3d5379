// Between the six element types and the types that numbers are computed and told in.
#pragma once

#include <complex>
#include <type_traits>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0 {

/// The type that holds every value of T and in which a user is told it: double or complex<double>.
template <class T>
using wide_t = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// An element in the type that computing is done in; exact.
template <class T>
[[nodiscard]] constexpr result_t<T> widened(T x) noexcept {
  if constexpr (std::is_same_v<T, result_t<T>>)
    return x;
  else
    return to_float(x);
}

/// An element in float64; exact.
template <class T>
[[nodiscard]] constexpr wide_t<T> to_wide(T x) noexcept {
  return wide_t<T>(widened(x));
}

/// The nearest element of type T; 16-bit types round twice, by way of float.
template <class T>
[[nodiscard]] constexpr T narrowed(wide_t<T> x) noexcept {
  if constexpr (is_complex<T>)
    return {static_cast<real_t<T>>(x.real()), static_cast<real_t<T>>(x.imag())};
  else if constexpr (std::is_same_v<T, result_t<T>>)
    return static_cast<T>(x);
  else
    return T::from_float(static_cast<float>(x));
}

}  // namespace ts::inline v0
