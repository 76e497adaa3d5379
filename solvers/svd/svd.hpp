// The largest singular values of a matrix and their vectors.
#pragma once

#include <string>

#include "tallskinny/solvers/eigen/options.hpp"
#include "tallskinny/solvers/eigen/result.hpp"
#include "tallskinny/solvers/svd/rectangular.hpp"

namespace ts::solvers {

/// T: double or std::complex<double>.
template <class T>
struct SvdProblem {
  Rectangular<T> a;  ///< m x n
  /// Empty, or the elements of a, dense. A tall one is reduced to its Gram matrix, or where that loses too
  /// many digits to its triangular factor.
  HostView<const T> dense = {};
};

/// How the singular values were reached.
enum class SvdStage { gram, triangular, augmented };

/// A v = sigma u, A^H u = sigma v, the largest sigma first.
template <class T>
struct SvdResult {
  /// `values` are the singular values, `vectors` the right ones (n x k); `residual_norms` those of [u; v] /
  /// sqrt(2) with [0 A; A^H 0], sqrt((||A v - sigma u||^2 + ||A^H u - sigma v||^2) / 2), computed from A
  /// itself at the end: a singular value lies within that distance.
  EigenResult<T> triplets;
  Matrix<T> left;  ///< m x k, orthonormal
  SvdStage stage = SvdStage::gram;
};

/// The `nev` largest singular triplets. First the eigenvectors of A^H A (or A A^H, whichever is smaller), by
/// solve_eigen and with its verification; the singular values then come from A V, not from square roots. A^H
/// A squares the condition number: what it cannot resolve (singular values below about u / tol of the
/// largest), or residuals that miss the tolerance, lead to a second step that does not square: the triangular
/// factor of a tall dense matrix, or block Lanczos on [0 A; A^H 0] from what was found. `which` and `method`
/// have no say.
/// @throws Error(invalid_argument), Error(bad_input) as solve_eigen.
template <class T>
[[nodiscard]] SvdResult<T> solve_svd(const Context&, const SvdProblem<T>&, const EigenOptions&);

}  // namespace ts::solvers
