// Matrices of very large or very small numbers are solved scaled by a power of two, which changes no digit.
#pragma once

#include <complex>
#include <string>

#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/setup/any_matrix.hpp"

namespace ts::inline v0::solvers {

/// e with the largest entry in [2^(e-1), 2^e) where its square, or the squares of what is computed from it,
/// could overflow or vanish, in float32 if that is asked for; otherwise 0. Of several ranks each has some of the
/// entries, and all get the same.
template <class T>
[[nodiscard]] int extreme_exponent(const Context&, const AnyView<T>& matrix, bool in_float32 = false);

/// x 2^exponent.
[[nodiscard]] double scaled(double x, int exponent);
[[nodiscard]] std::complex<double> scaled(std::complex<double> x, int exponent);
/// The options for a matrix times 2^exponent: an absolute tolerance goes with it.
[[nodiscard]] EigenOptions scaled(const EigenOptions& options, int exponent);

/// Every entry times 2^exponent.
template <class T>
void scale(AnyMatrix<T>& matrix, int exponent);

/// Everything in units of the matrix times 2^exponent.
/// @param where names the matrix.
/// @throws Error(out_of_range) where a value or what is said of it is beyond the largest number.
template <class T>
void scale_result(EigenResult<T>& result, int exponent, const std::string& where);
void scale_result(GeneralResult& result, int exponent, const std::string& where);

}  // namespace ts::inline v0::solvers
