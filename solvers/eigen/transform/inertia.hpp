// Completeness from counts: what an LDL^H factorisation says about the number of eigenvalues beyond a shift.
#pragma once

#include <vector>

#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"

namespace ts::inline v0::solvers {

/// The eigenvalues found, ascending in the Ritz value they came from, with bounds of their errors.
struct FoundSet {
  index_t n = 0;
  double norm = 0;
  std::vector<double> values, errors;
  double tolerance = 0;  ///< values that differ by no more need not be told apart
  /// Estimates of the first eigenvalues outside the set, at its low and its high end; NaN when not known.
  double next_low = nan;
  double next_high = nan;
};

/// Verdict of counts on a set.
struct CountVerdict {
  bool complete = false;  ///< no eigenvalue beyond the ends of the set is missing
  bool apart = false;     ///< and none lies between its ends and the estimates of the first outside
};

/// The shift is put into the gap outside the set, or, where the set cuts through a cluster, just inside of the cluster.
/// A cluster wider than the tolerance is not settled so: others in it may come before those that were found.
[[nodiscard]] CountVerdict count_ends(const FoundSet&, Which, Ends, const CountBelow&);

/// The same for a set of eigenvalues nearest to sigma.
[[nodiscard]] CountVerdict count_near(const FoundSet&, double sigma, const CountBelow&);

}  // namespace ts::inline v0::solvers
