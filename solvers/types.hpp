// The element types that eigen-solvers compute in.
#pragma once

#include <complex>
#include <cstddef>
#include <limits>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0 {

/// X(type), or X(type, more): once for every type that an eigen-solver computes in.
#define TS_FOR_EACH_SOLVER_TYPE(X, ...) \
  X(double __VA_OPT__(, ) __VA_ARGS__) X(std::complex<double> __VA_OPT__(, ) __VA_ARGS__)

/// float32 in the place of float64, real or complex.
template <class T>
using narrow_t = std::conditional_t<is_complex<T>, std::complex<float>, float>;

/// float64 in the place of float32, real or complex.
template <class T>
using wide_t = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// True if T is float32 or complex64.
template <class T>
inline constexpr bool is_narrow = std::is_same_v<T, narrow_t<T>>;

/// The complex conjugate; a real number itself.
template <class T>
[[nodiscard]] inline T conjugate(T x) noexcept {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

/// An index as the standard library wants it.
[[nodiscard]] constexpr std::size_t at(index_t i) noexcept { return static_cast<std::size_t>(i); }

/// The unit roundoff of float64, 2^-53.
inline constexpr double unit_roundoff = 0x1p-53;

/// The unit roundoff of T: 2^-53, or 2^-24 for float32 and complex64.
template <class T>
inline constexpr double roundoff_of = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) / 2;

namespace solvers {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace solvers

}  // namespace ts::inline v0
