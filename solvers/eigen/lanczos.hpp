// Thick-restart block Lanczos: search for the wanted pairs, then verification that none is missing.
#pragma once

#include "tallskinny/solvers/eigen/krylov.hpp"
#include "tallskinny/solvers/eigen/selection.hpp"
#include "tallskinny/solvers/eigen/solve.hpp"

namespace ts::solvers {

/// When a Ritz pair counts as converged. With a target the Ritz value is nu = 1 / (lambda - sigma).
struct Acceptance {
  double tol = 0;
  Convergence convergence = Convergence::norm;
  double norm = 0;  ///< ||A||
  index_t rows = 0;
  bool inverse = false;
  double sigma = 0;

  [[nodiscard]] double eigenvalue(double ritz) const noexcept { return inverse ? sigma + 1 / ritz : ritz; }
  /// What a residual of A must not exceed; never below the rounding of A x itself.
  [[nodiscard]] double bound(double lambda) const noexcept;
  [[nodiscard]] double rounding() const noexcept;
  /// The residual of a Ritz pair as a multiple of its bound: converged when <= 1.
  [[nodiscard]] double ratio(double ritz, double residual) const noexcept;
};

/// What the iteration hands to the final computation of residuals.
template <class T>
struct LanczosOutcome {
  Matrix<T> vectors;  ///< n x k, not necessarily orthonormal to the last digit
  StopReason stop = StopReason::max_iterations;
  Verification verification = Verification::none;
  double next_value = 0;  ///< first eigenvalue estimate outside the set; NaN when none is known
};

template <class T>
class Lanczos {
 public:
  Lanczos(const Context&, const EigenProblem<T>&, const EigenOptions&, const EigenPlan&);

  /// Iterates until the wanted pairs are converged and verified, or the budget ends. May be called again with
  /// a smaller `tol_factor` when true residuals turn out larger than their estimates.
  LanczosOutcome<T> run(HostView<const T> initial, double tol_factor, EigenResult<T>& record);

 private:
  enum class Stage { reached, entered, budget, interrupted };

  Stage search(EigenResult<T>& record);
  Stage verify(EigenResult<T>& record);
  [[nodiscard]] bool count_settles() const;
  [[nodiscard]] Stage may_go_on() const;
  void look(EigenResult<T>& record, index_t converged, double worst, bool verifying) const;
  void restart_search();
  [[nodiscard]] index_t keep_limit() const;
  [[nodiscard]] double next_outside() const;

  Context ctx_;
  const EigenProblem<T>& problem_;
  const EigenOptions& options_;
  EigenPlan plan_;
  Which which_;
  KrylovBasis<T> basis_;
  Acceptance accept_;
  Ritz<T> ritz_;
  Ends wanted_;
  double next_ritz_low_ = 0, next_ritz_high_ = 0;  ///< best Ritz values outside the set, per end; NaN: none
  bool started_ = false;
};

}  // namespace ts::solvers
