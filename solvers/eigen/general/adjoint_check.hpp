// What A^H says of eigenpairs that a search with A called complete.
#pragma once

#include <vector>

#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"

namespace ts::inline v0::solvers {

struct AdjointCheck {
  enum class Finding {
    normal,      ///< A^H x = conj(lambda) x as well: next to these vectors the matrix is normal
    agrees,      ///< a search with A^H finds the conjugates of the same eigenvalues
    others,      ///< it finds others
    unfinished,  ///< it did not converge
    interrupted
  };
  Finding finding = Finding::unfinished;
  /// 1 / |y^H x| with eigenvectors y of A^H, where the two agree; 1 where A is normal.
  std::vector<double> conditions;
  index_t operator_applications = 0;  ///< of A^H, or of its inverse
};

/// ||A x - theta x|| for each column of X; a real operator takes the real parts, then the imaginary ones.
template <class T>
[[nodiscard]] std::vector<double> general_residuals(const Context&, const Operator<T>& a, HostView<const Complex> x,
                                                    const std::vector<Complex>& theta);

/// A search sees eigenvalues of a matrix near A, and far from normal they may be elsewhere: residuals are
/// small, and so are the conditions that the projected matrix has. With left eigenvectors a condition is what
/// it is (Golub and Van Loan, Matrix Computations, 4th edition, 7.2.2).
/// @param adjoint of the problem that was solved.
/// @param found by solve_general, all converged.
/// @param bound what residuals were allowed to be.
template <class T>
[[nodiscard]] AdjointCheck ask_adjoint(const Context&, const GeneralProblem<T>& adjoint, const GeneralOptions&,
                                       const GeneralResult& found, double bound);

}  // namespace ts::inline v0::solvers
