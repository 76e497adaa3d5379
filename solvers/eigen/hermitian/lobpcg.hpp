// LOBPCG and block Davidson: preconditioned methods for an end of the spectrum.
#pragma once

#include "tallskinny/solvers/eigen/hermitian/evidence.hpp"
#include "tallskinny/solvers/eigen/hermitian/ritz_basis.hpp"

namespace ts::inline v0::solvers {

/// A run for the lowest (SA) or highest (LA) eigenpairs: Rayleigh-Ritz on span[X, P, W] with W the
/// preconditioned residuals and P the part of the new X outside the old one, orthonormalised in the
/// coefficients. Converged columns stay in X and get no W (soft locking). Then a fresh random block is
/// iterated in the complement of what was found, as in Lanczos: it brings something missing, or shows that
/// what comes next is outside. Sources: Knyazev 2001, "Toward the optimal preconditioned eigensolver";
/// Hetmaniuk and Lehoucq 2006, "Basis selection in LOBPCG" (P); Duersch, Shao, Yang, Gu 2018 (robust bases).
///
/// Method::davidson is the same with a basis that keeps growing by preconditioned residuals of the first
/// unconverged pairs until `max_basis`, and is then restarted with the Ritz vectors and those of the step
/// before: block GD+k. Source: Stathopoulos and Saad 1998, "Restarting techniques for the (Jacobi-)Davidson
/// symmetric eigenvalue methods"; Stathopoulos 2007.
template <class T>
struct Lobpcg {
  /// @param initial n x c, a warm start; must stay alive, as must all that is taken by reference.
  /// @param record what the run adds to.
  Lobpcg(const Context&, const EigenProblem<T>&, const EigenOptions&, const EigenPlan&, HostView<const T> initial,
         EigenResult<T>& record);

  Context ctx;
  const EigenProblem<T>& problem;
  const EigenOptions& options;
  EigenPlan plan;
  HostView<const T> initial;
  EigenResult<T>& record;

  double sign;  ///< 1: lowest, -1: highest
  RitzBasis<T> basis;
  Acceptance accept;
  std::uint64_t stream = 0;
  double next;           ///< the first value outside of the set; NaN: not known
  index_t found_at = 0;  ///< applications when the wanted had converged
};

template <class T>
[[nodiscard]] Iterated<T> run(Lobpcg<T>&);
/// Before another run, when true residuals turn out larger than their estimates.
template <class T>
void tighten(Lobpcg<T>& lobpcg) {
  lobpcg.accept.tol *= 0.1;
}

}  // namespace ts::inline v0::solvers
