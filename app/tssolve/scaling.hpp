// Matrices of very large or very small numbers are solved scaled by a power of two, which changes no digit.
#pragma once

#include "tallskinny/app/tssolve/input.hpp"
#include "tallskinny/solvers/eigen/result.hpp"

namespace ts::app::tssolve {

/// e with the largest entry in [2^(e-1), 2^e) where its square, or the squares of what is computed from it,
/// could overflow or vanish, in float32 if that is asked for; otherwise 0.
template <class T>
[[nodiscard]] int extreme_exponent(const AnyMatrix<T>& matrix, bool in_float32 = false);

/// Every entry times 2^exponent.
template <class T>
void scale(AnyMatrix<T>& matrix, int exponent);

/// Everything in units of the matrix times 2^exponent.
template <class T>
void scale_result(solvers::EigenResult<T>& result, int exponent);

}  // namespace ts::app::tssolve
