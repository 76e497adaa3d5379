// Matrices that a diagonal scaling makes Hermitian: S = D^-1 A D has the eigenvalues of A.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"

namespace ts::inline v0::solvers {

/// S = D^-1 A D is Hermitian: of reversible Markov chains, random walks on graphs, tridiagonal matrices, convection and
/// diffusion with velocities that have a potential. T: double or std::complex<double>.
template <class T>
struct SimilarHermitian {
  CsrMatrix<T> matrix;        ///< S, of which each entry is sqrt(a_ij a_ji): as exact as A is
  std::vector<double> scale;  ///< D
  double condition = 1;       ///< of D
  std::optional<EigenProblem<T>> problem = std::nullopt;  ///< of S; to be given
  Method method = Method::automatic;
};

/// D and S, where there are such; null where D has a condition above 1e4, which eigenvectors D y would not survive.
/// @param a n x n with rising columns
template <class T>
[[nodiscard]] std::shared_ptr<SimilarHermitian<T>> similar_hermitian(CsrView<T> a);

/// Eigenpairs of A from those of S, near the problem's target or of largest magnitude, largest or smallest real part.
/// Nothing is missing where S is verified; residuals are those of A.
template <class T>
[[nodiscard]] GeneralResult solve_similar(const Context&, const GeneralProblem<T>& problem, const GeneralOptions&,
                                          const Checkpointing<T>&);

}  // namespace ts::inline v0::solvers
