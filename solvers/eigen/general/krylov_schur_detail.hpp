// The run of block Krylov-Schur.
#pragma once

#include <algorithm>

#include "tallskinny/solvers/eigen/general/adjoint_check.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/general/normal.hpp"
#include "tallskinny/solvers/eigen/general/schur.hpp"
#include "tallskinny/solvers/eigen/hermitian/krylov.hpp"
#include "tallskinny/solvers/eigen/state.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"

namespace ts::solvers {

/// Rises from the first wanted to the last.
[[nodiscard]] double key_of(Part part, Complex z);

/// What decides whether a set is vouched for.
struct GeneralVerdict {
  /// How far rounding moves a value at most, in units of roundoff of ||A||, where that is better known than
  /// from the conditions.
  std::optional<double> amplification;
  bool whole = false;                            ///< everything was computed
  std::optional<Companion::Finding> companion;   ///< of a normal matrix
  std::optional<AdjointCheck::Finding> adjoint;  ///< of another one, if it was asked
  bool displaced = false;                        ///< what is nearest to the shift may not be to the target
  bool inside = false;                           ///< of the spectrum: no search sees that from its rim
};

/// Fills converged, verified, stop and reason of a result whose pairs are there.
void conclude(GeneralResult& result, const GeneralVerdict& verdict, index_t nev);

template <class T>
class KrylovSchur {
 public:
  KrylovSchur(const Context& ctx, const GeneralProblem<T>& problem, const GeneralOptions& options,
              HostView<const T> initial, const Checkpointing<T>& checkpointing);
  /// A^H is asked for no more than whether the matrix is normal: a dense solver decides otherwise.
  void leave_to_dense() { left_to_dense_ = true, steps_allowed_ = std::min(steps_allowed_, takeover_steps); }
  /// Where a companion knows of eigenvalues that were not found, vectors of theirs among others.
  [[nodiscard]] Matrix<T>& hints() { return hints_; }

  GeneralResult run();

 private:
  enum class Stage { reached, entered, budget, interrupted };
  /// Are values wanted that lie inside of the spectrum, where a search that comes from its rim sees last?
  [[nodiscard]] bool is_inside() const { return options_.part == Part::SI && !problem_.inverse; }
  [[nodiscard]] index_t most_columns() const;
  /// From below: the largest column of A V.
  [[nodiscard]] double norm_of_a();
  /// What must agree for a stored state to be this run's.
  [[nodiscard]] std::vector<double> identity() const;
  void exchange(StateArchive<T>& archive);
  /// Between two block steps: may another follow? The state is stored when it is time to, or when the run is
  /// about to end early; what is still tried then is no part of it.
  [[nodiscard]] Stage next_step();
  /// Rises from the first wanted Ritz value to the last.
  [[nodiscard]] double key(Complex ritz) const;
  /// The eigenvalue of A that a Ritz value stands for.
  [[nodiscard]] Complex eigenvalue(Complex ritz) const {
    return problem_.inverse ? Complex(problem_.shift) + 1.0 / ritz : ritz;
  }
  /// The residual of a Ritz pair as a multiple of its bound.
  [[nodiscard]] double ratio(Complex ritz, double residual) const;
  /// The Schur form of what V holds, wanted first, with the residuals of its eigenvectors.
  void decompose();
  /// k, or k + 1 where k would separate a pair.
  [[nodiscard]] index_t whole_units(index_t k) const;
  void look(bool verifying);
  void keep(index_t k) {
    const auto s = leading_basis<T>(schur_, k);
    basis_.compress(s.cview());
  }
  Stage search();
  /// Locks the wanted; what follows starts from a fresh random block in their complement.
  void begin_verification();
  Stage verify();
  void iterate();

  // In krylov_schur_result.cpp.
  /// X = V Y, through an inverse X = V Y + F B Y / nu (a step of inverse iteration), and its residuals, from
  /// A.
  void finish();
  /// Asks A^H, where that can say more.
  void weigh();
  void conclude();
  /// The nearest to a shift that was moved: are they the nearest to the target as well, but for the
  /// tolerance?
  [[nodiscard]] bool nearest_hold() const;

  /// A cycle from a fresh random block, while it lasts.
  struct Cycle {
    bool running = false;
    double last = 0, slack = 0;  ///< the key of the last wanted, and how far it may be off
    index_t wanted = 0;
    typename KrylovBasis<T>::Saved saved;
  };

  const Context& ctx_;
  const GeneralProblem<T>& problem_;
  const GeneralOptions& options_;
  const Checkpointing<T>& checkpointing_;
  index_t n_, nev_, block_, width_, most_;
  KrylovBasis<T> basis_;
  HostView<const T> initial_;
  Acceptance accept_;
  Schur schur_;
  SchurVectors pairs_;
  std::vector<double> residuals_;
  Cycle cycle_;
  bool ended_ = false;  ///< no block step may follow
  int attempt_ = 0;     ///< each asks for residuals ten times smaller than the one before
  index_t wanted_ = 0, steps_allowed_ = 0, found_applications_ = 0, extra_applications_ = 0;
  GeneralResult out_;
  std::optional<AdjointCheck> adjoint_;
  std::optional<Companion> companion_;
  Matrix<T> hints_;
  bool left_to_dense_ = false;
};

}  // namespace ts::solvers
