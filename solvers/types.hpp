// The element types that eigen-solvers compute in.
#pragma once

#include <complex>

#include "tallskinny/gemm/core/types.hpp"

namespace ts {

/// X(type): once for every type that an eigen-solver computes in.
#define TS_FOR_EACH_SOLVER_TYPE(X) X(double) X(std::complex<double>)

[[nodiscard]] constexpr double conjugate(double x) noexcept {
  return x;
}
[[nodiscard]] inline std::complex<double> conjugate(std::complex<double> x) noexcept {
  return std::conj(x);
}

/// The unit roundoff of float64, 2^-53.
inline constexpr double unit_roundoff = 0x1p-53;

}  // namespace ts
