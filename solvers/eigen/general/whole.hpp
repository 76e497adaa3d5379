// All eigenvalues of a matrix that need not be Hermitian, from its Schur form.
#pragma once

#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"

namespace ts::inline v0::solvers {

/// Up to this size the Schur form of the matrix is computed at once.
inline constexpr index_t whole_rows = 600;
/// Is it, for a matrix of so many rows? Then an inverse beside a target is not needed.
[[nodiscard]] constexpr bool is_whole(index_t rows, const EigenOptions& o) {
  return o.method == Method::dense || (o.max_basis == 0 && rows <= whole_rows);
}
/// Block steps after which it takes over.
inline constexpr index_t steps_before_whole = 600;
/// Up to this size it is what decides where no search can tell that nothing is missing: it takes about ten
/// seconds at most.
template <class T>
inline constexpr index_t whole_takeover_rows = is_complex<T> ? 1000 : 1500;
template <class T>
[[nodiscard]] constexpr bool may_take_over(index_t rows, const EigenOptions& o) {
  return o.verify && o.max_iterations == 0 && rows <= whole_takeover_rows<T>;
}

/// The wanted of all eigenvalues, by a dense_solver() where the operator is at home; on the processor by A = U T U^H
/// (Golub and Van Loan, Matrix Computations, 4th edition, 7.5), n^2 numbers of memory and 25 n^3 operations.
/// Fills what of `out` says what was found; what was counted before stays.
/// @throws Error(bad_input) for an operator that gives NaN or Inf, or where the QR algorithm does not
/// converge.
template <class T>
void solve_whole(const Context&, const GeneralProblem<T>&, const GeneralOptions&, GeneralResult& out);

}  // namespace ts::inline v0::solvers
