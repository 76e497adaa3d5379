// The steps of a run of block Lanczos. For the .cpp files of this folder alone.
#pragma once

#include "tallskinny/solvers/eigen/hermitian/lanczos.hpp"
#include "tallskinny/solvers/eigen/transform/inertia.hpp"

namespace ts::inline v0::solvers {

// thick_restart.cpp

/// Room for the next search, and when it looks at Ritz values first.
template <class T>
void begin_search(Lanczos<T>&);
/// Expands and restarts until every wanted pair is converged; leaves `pairs` for the factorisation as it is.
template <class T>
[[nodiscard]] Stage search(Lanczos<T>&);
/// A restart keeps at most so many: at least two block steps must fit behind them.
template <class T>
[[nodiscard]] index_t keep_limit(const Lanczos<T>& run) {
  return run.plan.max_basis + run.plan.block_size - run.krylov.locked() - 3 * run.krylov.width();
}
/// Of the decades between ||A|| and the tolerances, how many all residuals have fallen. @param ratios of the wanted
/// pairs.
template <class T>
[[nodiscard]] double progress_of(const Lanczos<T>&, const std::vector<double>& ratios);
/// Writes a look into the history.
template <class T>
void look(Lanczos<T>&, index_t converged, std::vector<double> ratios, bool verifying);

// verify.cpp

/// With a factorisation at hand: is the number of eigenvalues beyond the last wanted value what was found?
template <class T>
[[nodiscard]] CountVerdict count_settles(const Lanczos<T>&);
/// Locks everything found and starts a cycle from a fresh random block orthogonal to it.
template <class T>
void begin_verification(Lanczos<T>&);
/// The cycle that was begun. `reached`: nothing new can be in the wanted set. `entered`: something new is,
/// and the search goes on with it.
template <class T>
[[nodiscard]] Stage verify(Lanczos<T>&);

// slow_end.cpp

/// Flops of a block step with the operator that is iterated with.
template <class T>
[[nodiscard]] double cost_of_step(const Lanczos<T>&);

/// Puts the operator that `transform` speaks of into the place of A.
template <class T>
void install(Lanczos<T>&, const SpectralTransform& transform);
/// Before the first block step, or when the basis is full: are LM and BE left to a run at each end, which goes through
/// an inverse? Sets course.beyond.
template <class T>
[[nodiscard]] bool leave_to_ends(Lanczos<T>&);
/// Likewise: does an inverse take the place of A? With one, a full basis may tell of a better shift.
/// @param others flops of the best other way
template <class T>
[[nodiscard]] bool take_inverse(Lanczos<T>&, double others);
/// Does a filter lift eigenvalues at the other end, beyond the bound that it was made for? Starts anew with a farther
/// one if so.
template <class T>
[[nodiscard]] bool mend_filter(Lanczos<T>&);
/// When the basis is full: does an end of the spectrum that converges slowly deserve another operator? Starts
/// anew with it if so.
template <class T>
[[nodiscard]] bool transform_operator(Lanczos<T>&);

// checkpoint.cpp

/// Between two block steps: may another follow?
template <class T>
[[nodiscard]] Stage may_step(Lanczos<T>&);
/// @throws Error(invalid_argument) for the state of another run.
template <class T>
void exchange(Lanczos<T>&, StateArchive<T>& archive);

}  // namespace ts::inline v0::solvers
