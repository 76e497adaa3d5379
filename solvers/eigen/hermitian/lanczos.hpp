// Thick-restart block Lanczos: search for the wanted pairs, then verification that none is missing.
#pragma once

#include "tallskinny/solvers/eigen/hermitian/evidence.hpp"
#include "tallskinny/solvers/eigen/hermitian/wanted.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/eigen/values/state.hpp"

namespace ts::inline v0::solvers {

/// A cycle from a fresh random block in the complement of what was found, while it lasts.
template <class T>
struct VerificationCycle {
  bool running = false;
  Thresholds limits{0, 0};
  double slack = 0;
  double hidden = 0;  ///< bound of how far deflated pairs may move an eigenvalue
  typename KrylovFactorisation<T>::Saved saved;
};

/// Where a run stands.
struct LanczosCourse {
  double tol_factor = 1;
  bool resumed = false;   ///< the next run goes on in the middle
  bool started = false;   ///< there is a start block
  bool ended = false;     ///< no block step may follow
  index_t next_look = 0;  ///< basis size at which Ritz values are computed next
  /// Block steps and applications when the wanted pairs had converged; 0 before, and again when more were
  /// found.
  index_t search_steps = 0, search_applications = 0;
  index_t refine_until = 0;  ///< block steps up to which the search may go on to prove itself complete
  index_t norm_applications = 0;
  int transforms = 0;            ///< inverses put into the place of A
  index_t steps_before = 0;      ///< block steps before the operator that is iterated with took its place
  index_t steps_per_search = 0;  ///< a search that takes more is given up; 0: any number
  Ends beyond;                   ///< LM or BE left to a run at each end, as Iterated tells; none: it is not
};

/// A run of block Lanczos: the factorisation, what is wanted of it, and where the run stands. The functions
/// below take it on; those that make up one run are in lanczos_detail.hpp.
template <class T>
struct Lanczos {
  /// @param initial n x c, a warm start; must stay alive, as must all that is taken by reference.
  /// @param record what the run adds to.
  /// @throws Error(invalid_argument) when the state to resume belongs to another problem or other options.
  Lanczos(const Context&, const EigenProblem<T>&, const EigenOptions&, const EigenPlan&, PlacedView<const T> initial,
          const Checkpointing<T>&, EigenResult<T>& record);

  Context ctx;
  const EigenProblem<T>& problem;
  const EigenOptions& options;
  EigenPlan plan;
  PlacedView<const T> initial;
  const Checkpointing<T>& checkpointing;
  EigenResult<T>& record;

  Ways ways;  ///< and what they cost
  KrylovFactorisation<T> krylov;
  Acceptance accept;  ///< and what stands in the place of A
  WantedPairs<T> pairs;
  VerificationCycle<T> cycle;
  LanczosCourse course;
  SpectrumEnds within;                    ///< of A, where an inverse was weighed before the first step
  index_t random_columns = 0;             ///< of the start block
  Evidence before;                        ///< of the run that this one follows
  Verification how = Verification::none;  ///< of the last run
};

/// Iterates until the wanted pairs are converged and verified, or the budget ends.
template <class T>
[[nodiscard]] Iterated<T> run(Lanczos<T>&);
/// Before another run, when true residuals turn out larger than their estimates.
template <class T>
void tighten(Lanczos<T>& lanczos) {
  lanczos.course.tol_factor *= 0.1;
}

/// Before the first run: begins with the operator that the one before ended with, and calls the set complete
/// where the evidence holds. The work done counts as done by this one.
/// @param steps_per_search a search that takes more block steps is given up; 0: none is.
template <class T>
void follow(Lanczos<T>&, const Predecessor& before, index_t steps_per_search = 0);
/// After a run.
template <class T>
[[nodiscard]] Evidence evidence_of(const Lanczos<T>&);
template <class T>
[[nodiscard]] Predecessor left_behind(const Lanczos<T>&);
/// The Ritz vectors of the wanted set and of `more` values next to it.
template <class T>
[[nodiscard]] PlacedMatrix<T> leading_vectors(Lanczos<T>&, index_t more);

}  // namespace ts::inline v0::solvers
