// What shows of a normal matrix that a search found every wanted eigenvalue.
#pragma once

#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"

namespace ts::inline v0::solvers {

/// Is ||(A A^H - A^H A) x|| for random x no more than rounding?
template <class T>
[[nodiscard]] bool is_normal(const Context&, const Operator<T>& a, const Operator<T>& adjoint, std::uint64_t seed);

/// A normal A = U D U^H shares its eigenvectors with Hermitian matrices whose ends hold what is wanted:
///
/// | wanted           | Hermitian matrix             | its eigenvalues     |
/// |------------------|------------------------------|---------------------|
/// | LR, SR           | (A + A^H) / 2                | Re lambda           |
/// | LI               | K^H K with K = (A - A^H) / 2 | (Im lambda)^2       |
/// | LM               | A^H A                        | abs(lambda)^2       |
/// | next to a target | B^H B, B = (A - shift)^-1    | 1 / abs(lambda - shift)^2 |
///
/// Block Lanczos tells for those whether a set is complete (counts, interlacing). Source: Horn and Johnson,
/// Matrix Analysis, 2nd edition, 2.5.
struct Companion {
  enum class Finding {
    agrees,      ///< the first k eigenvalues of the Hermitian matrix belong to the k that were found
    missing,     ///< it has another one before them
    unfinished,  ///< it did not converge or could not be verified
    interrupted
  };
  Finding finding = Finding::unfinished;
  index_t operator_applications = 0;  ///< of A, A^H or their inverses
};

/// @param problem,adjoint of a normal matrix.
/// @param found by a search, all converged. Not for GeneralWhich::SI without a target.
/// @param vectors those of the Hermitian matrix, n x k: where something is missing, the invariant subspace
/// that holds it.
template <class T>
[[nodiscard]] Companion ask_companion(const Context&, const GeneralProblem<T>& problem,
                                      const GeneralProblem<T>& adjoint, const GeneralOptions&,
                                      const GeneralResult& found, Matrix<T>& vectors);

}  // namespace ts::inline v0::solvers
