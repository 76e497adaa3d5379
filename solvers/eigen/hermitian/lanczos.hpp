// Thick-restart block Lanczos: search for the wanted pairs, then verification that none is missing.
#pragma once

#include <span>

#include "tallskinny/solvers/eigen/hermitian/krylov.hpp"
#include "tallskinny/solvers/eigen/result/selection.hpp"
#include "tallskinny/solvers/eigen/solve.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"

namespace ts::solvers {

/// That a set is complete, as a search in float32 found.
struct Evidence {
  Verification how = Verification::none;
  std::vector<double> values;  ///< the eigenvalues of the set, rising
  double clearance = 0;        ///< from the ends of the set to the first eigenvalue outside

  /// Rounding moves no eigenvalue farther than its size (Weyl), and `values`, rising, the same set in
  /// float64, tell its size: does it leave the gap outside the set open, so that the number of eigenvalues
  /// beyond the gap is that of the set in float64 as well?
  [[nodiscard]] bool holds_for(std::span<const double> values) const;
};

/// What a run leaves to one that goes on in its place.
struct Predecessor {
  KrylovWork work;
  SpectralTransform transform;  ///< of the operator that it ended with
  Evidence evidence = {};
};

/// What the iteration hands to the final computation of residuals.
template <class T>
struct LanczosOutcome {
  PlacedMatrix<T> vectors;  ///< n x k, not necessarily orthonormal to the last digit
  StopReason stop = StopReason::max_iterations;
  Verification verification = Verification::none;
  double next_value = 0;  ///< first eigenvalue estimate outside the set; NaN when none is known
  std::optional<Evidence> evidence = std::nullopt;  ///< that must hold for the verification to count
};

template <class T>
class Lanczos {
 public:
  /// @param initial n x c, a warm start; must stay alive.
  /// @throws Error(invalid_argument) when the state to resume belongs to another problem or other options.
  Lanczos(const Context&, const EigenProblem<T>&, const EigenOptions&, const EigenPlan&,
          PlacedView<const T> initial, const Checkpointing<T>&, EigenResult<T>& record);

  /// Before the first run: begins with the operator that the one before ended with, and calls the set
  /// complete where the evidence holds. The work done counts as done by this one.
  /// @param steps_per_search a search that takes more block steps is given up; 0: none is.
  void follow(const Predecessor& before, index_t steps_per_search = 0);
  /// After a run.
  [[nodiscard]] Evidence evidence() const;
  [[nodiscard]] Predecessor left_behind() const;
  /// The Ritz vectors of the wanted set and of `more` values next to it.
  [[nodiscard]] PlacedMatrix<T> leading(index_t more);

  /// Iterates until the wanted pairs are converged and verified, or the budget ends.
  LanczosOutcome<T> run(EigenResult<T>& record);
  /// Before another run, when true residuals turn out larger than their estimates.
  void tighten() { tol_factor_ *= 0.1; }

 private:
  enum class Stage { reached, entered, budget, interrupted };

  void exchange(StateArchive<T>& archive, EigenResult<T>& record);
  [[nodiscard]] std::vector<double> identity() const;
  void store(EigenResult<T>& record);
  [[nodiscard]] Stage next_step(EigenResult<T>& record);
  void iterate(EigenResult<T>& record, LanczosOutcome<T>& out);
  void begin_search(EigenResult<T>& record);
  Stage search(EigenResult<T>& record);

  // Other operators in the place of A, in slow_end.cpp.
  bool transform_operator();
  [[nodiscard]] std::optional<SpectralTransform> worthwhile_inverse() const;
  [[nodiscard]] std::optional<SpectralTransform> worthwhile_filter() const;
  [[nodiscard]] std::optional<SpectralTransform> worthwhile_longer_filter() const;
  void install(const SpectralTransform& transform);

  // Completeness, in verify.cpp.
  bool finish_cycle(EigenResult<T>& record, LanczosOutcome<T>& out);
  void begin_verification();
  Stage verify(EigenResult<T>& record);
  [[nodiscard]] bool count_settles() const;
  [[nodiscard]] double search_shortfall() const;
  [[nodiscard]] bool search_may_settle(double shortfall) const;
  [[nodiscard]] double deviation(index_t i) const;
  [[nodiscard]] double slack() const;

  void look(EigenResult<T>& record, index_t converged, std::vector<double> ratios, bool verifying) const;
  void restart_search();
  [[nodiscard]] index_t keep_limit() const;
  [[nodiscard]] double outside(double ritz) const;
  [[nodiscard]] double next_outside() const;
  [[nodiscard]] std::vector<double> wanted_values() const;
  [[nodiscard]] double clearance() const;
  [[nodiscard]] bool stalls(const EigenResult<T>& record) const;

  /// A cycle from a fresh random block, while it lasts.
  struct Cycle {
    bool running = false;
    Thresholds limits{0, 0};
    double slack = 0;
    double hidden = 0;  ///< bound of how far deflated pairs may move an eigenvalue
    typename KrylovBasis<T>::Saved saved;
  };

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
  PlacedView<const T> initial_;
  const Checkpointing<T>& checkpointing_;
  Cycle cycle_;
  double tol_factor_ = 1;
  bool resumed_ = false;        ///< the next run goes on in the middle
  index_t random_columns_ = 0;  ///< of the start block
  index_t next_look_ = 0;       ///< basis size at which Ritz values are computed next
  /// Block steps and applications when the wanted pairs had converged; 0 before, and again when more were
  /// found.
  index_t search_steps_ = 0, search_applications_ = 0;
  index_t refine_until_ = 0;  ///< block steps up to which the search may go on to prove itself complete
  index_t norm_applications_ = 0;
  bool started_ = false, ended_ = false;   ///< ended: no block step may follow
  int transforms_ = 0;                     ///< operators put into the place of A
  Verification how_ = Verification::none;  ///< of the last run
  Evidence evidence_;                      ///< of the run that this one follows
  index_t steps_per_search_ = 0;           ///< 0: any number
};

}  // namespace ts::solvers
