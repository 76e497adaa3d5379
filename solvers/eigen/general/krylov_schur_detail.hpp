// The run of block Krylov-Schur. For the .cpp files of this folder alone.
#pragma once

#include "tallskinny/solvers/eigen/general/adjoint_check.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/general/normal.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/small/schur.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/eigen/values/state.hpp"

namespace ts::inline v0::solvers {

/// Rises from the first wanted to the last.
[[nodiscard]] double key_of(GeneralWhich part, Complex z);

/// A cycle from a fresh random block in the complement of the wanted, while it lasts.
template <class T>
struct GeneralCycle {
  bool running = false;
  double last = 0, slack = 0;  ///< the key of the last wanted, and how far it may be off
  index_t wanted = 0;
  typename KrylovFactorisation<T>::Saved saved;
};

/// A run: the factorisation, the Schur form of H = V^H A V, and where the run stands.
template <class T>
struct KrylovSchur {
  /// All that is taken by reference must stay alive.
  KrylovSchur(const Context&, const GeneralProblem<T>&, const GeneralOptions&, HostView<const T> initial,
              const Checkpointing<T>&);

  const Context& ctx;
  const GeneralProblem<T>& problem;
  const GeneralOptions& options;
  HostView<const T> initial;
  const Checkpointing<T>& checkpointing;
  index_t n, nev, block, width, most;  ///< most: columns of V
  index_t steps_allowed;
  /// A^H is asked for no more than whether the matrix is normal: a dense solver decides otherwise.
  bool left_to_dense = false;

  KrylovFactorisation<T> krylov;
  Acceptance accept;
  Schur schur;                    ///< of H, wanted first
  SchurVectors pairs;             ///< eigenvectors of H for the first few
  std::vector<double> residuals;  ///< ||B y|| of those
  index_t wanted = 0;             ///< nev, or one more where nev would separate a pair
  GeneralCycle<T> cycle;
  bool ended = false;  ///< no block step may follow
  int attempt = 0;     ///< each asks for residuals ten times smaller than the one before
  index_t found_applications = 0, extra_applications = 0;

  GeneralResult out;
  std::optional<AdjointCheck> adjoint;
  std::optional<Companion> companion;
  /// Where a companion knows of eigenvalues that were not found, vectors of theirs among others.
  Matrix<T> hints;

  /// Are values wanted that lie inside of the spectrum, where a search that comes from its rim sees last?
  [[nodiscard]] bool is_inside() const { return options.part == GeneralWhich::SI && !problem.inverse; }
  /// The eigenvalue of A that a Ritz value stands for.
  [[nodiscard]] Complex eigenvalue(Complex ritz) const {
    return problem.inverse ? Complex(problem.shift) + 1.0 / ritz : ritz;
  }
  /// As asked for, with what the run knows of A.
  [[nodiscard]] Acceptance asked() const {
    Acceptance as_asked = accept;
    as_asked.tol = options.common.tol;
    return as_asked;
  }
};

/// From the start, or the state that is stored, to a result.
template <class T>
[[nodiscard]] GeneralResult run(KrylovSchur<T>&);

/// Search and verification in turns (krylov_schur.cpp).
template <class T>
void iterate(KrylovSchur<T>&);
/// Everything but the operator.
template <class T>
void exchange(KrylovSchur<T>&, StateArchive<T>& archive);

/// What decides whether a set is vouched for.
struct GeneralVerdict {
  /// How far rounding moves a value at most, in units of roundoff of ||A||, where that is better known than
  /// from the conditions.
  std::optional<double> amplification;
  bool whole = false;                            ///< everything was computed
  bool similar = false;                          ///< to a Hermitian matrix whose set is verified
  std::optional<Companion::Finding> companion;   ///< of a normal matrix
  std::optional<AdjointCheck::Finding> adjoint;  ///< of another one, if it was asked
  bool displaced = false;                        ///< what is nearest to the shift may not be to the target
  bool inside = false;                           ///< of the spectrum: no search sees that from its rim
  /// A lower bound of the distance from a value to all that are not in the set; empty: none is known.
  std::function<double(Complex)> outside = {};
};

/// Fills backward_errors, converged, verified, stop and reason of a result whose pairs are there.
void conclude(GeneralResult& result, const GeneralVerdict& verdict, index_t nev);

}  // namespace ts::inline v0::solvers
