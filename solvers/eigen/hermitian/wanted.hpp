// Which of the Ritz pairs are wanted, and what these say of the eigenvalues outside of the set.
#pragma once

#include <vector>

#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"

namespace ts::inline v0::solvers {

/// The Ritz pairs (theta_i, V s_i) of a factorisation as it stands; the wanted are those at its ends.
template <class T>
struct WantedPairs {
  Which which = Which::LA;  ///< of the operator that is iterated with
  Ritz<T> ritz;
  Ends ends;
  double next_low = nan, next_high = nan;  ///< best Ritz values outside the set, per end; NaN: none

  [[nodiscard]] Thresholds limits() const { return thresholds(ritz.values, which, ends); }
  [[nodiscard]] std::vector<index_t> indices() const { return indices_of(ends, ritz.size()); }
  /// Are there Ritz pairs outside of the set?
  [[nodiscard]] bool has_outside() const noexcept { return ends.low < ritz.size() - ends.high; }
  [[nodiscard]] index_t first_low() const noexcept { return ends.low; }  ///< outside of the set
  [[nodiscard]] index_t first_high() const noexcept { return ritz.size() - 1 - ends.high; }
};

/// Calls visit(next, threshold) with the first Ritz value outside at each end that is open.
template <class T, class Visit>
void at_open_ends(const WantedPairs<T>& pairs, const Visit& visit) {
  const auto limits = pairs.limits();
  if (std::isfinite(limits.low)) visit(pairs.next_low, limits.low);
  if (std::isfinite(limits.high)) visit(pairs.next_high, limits.high);
}

/// The residual of each wanted pair as a multiple of its tolerance, from each end inwards.
template <class T>
[[nodiscard]] std::vector<double> ratios_of(const WantedPairs<T>&, const Acceptance&);

/// Of such ratios, how many count as converged: at each end only a prefix does.
[[nodiscard]] index_t converged_in(const std::vector<double>& ratios, Ends ends);

/// The eigenvalues of the wanted set, rising.
template <class T>
[[nodiscard]] std::vector<double> wanted_values(const WantedPairs<T>&, const SpectralTransform&);

/// How far the first eigenvalue outside of the set is from the set, in eigenvalues of A of so many rows.
template <class T>
[[nodiscard]] double clearance_of(const WantedPairs<T>&, const SpectralTransform&, index_t rows);

/// The estimate of the first eigenvalue outside; NaN where none is known.
template <class T>
[[nodiscard]] double next_outside(const WantedPairs<T>&, const SpectralTransform&);

/// What is known of an eigenvalue outside of the set; NaN for values that a filter made indistinct.
[[nodiscard]] double outside_value(const SpectralTransform&, double ritz);

/// Ritz values nearer to the threshold than this are copies of the threshold value.
/// @param rounding of products with the operator.
template <class T>
[[nodiscard]] double slack_of(const WantedPairs<T>&, double rounding);

/// The search itself as evidence. Its space grew from R random columns by polynomials that are largest at the
/// wanted end. An eigenvector that it misses beyond the first Ritz value outside of the set, mu, would have
/// to be nearly orthogonal to all R columns; a missing copy of a value that was found c times, to the R - c
/// columns that these copies leave. Both are as unlikely as the residual of mu is small against its distance,
/// to that power; so is one of the last value, unless mu is such a copy. Returns that residual as a multiple of what
/// would do (1e-10); infinite where no residual would.
template <class T>
[[nodiscard]] double search_shortfall(const WantedPairs<T>&, const Acceptance&, index_t random_columns, double slack);

}  // namespace ts::inline v0::solvers
