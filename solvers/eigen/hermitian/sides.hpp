// Eigenvalues near a target, and on its sides: which are wanted, and whether those that were found hold where the
// shift had to be moved.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"

namespace ts::inline v0::solvers {

// n: rows of the matrix, of all ranks.

/// With a target, LA and SA ask for one side of it and BE for both.
[[nodiscard]] bool seeks_sides(const EigenOptions&, std::optional<double> target);

/// Are the nearest to a number wanted?
[[nodiscard]] bool seeks_nearest(const EigenOptions&, std::optional<double> target);

/// How many of k are wanted on each side of a target.
[[nodiscard]] Ends sides_of(Which which, index_t k);

/// Of rising values, those nearest to the target on its two sides. What `slack` cannot tell from the target
/// is on both, and taken once.
[[nodiscard]] std::vector<index_t> nearest_on_sides(const std::vector<double>& rising, double target, Ends wanted,
                                                    double slack);

/// How many eigenvalues lie on each side of the target, by inertia; nothing where counts do not tell. What
/// rounding does not tell from the target counts on both.
template <class T>
[[nodiscard]] std::optional<Ends> count_sides(const Context&, const EigenProblem<T>&, const EigenOptions&, index_t n);

/// LM: 0. Values nearest to a target: the target. None where the set is that of an end.
[[nodiscard]] std::optional<double> centre_of(const EigenOptions&, std::optional<double> target);

/// Counts the copies of the last eigenvalue of a complete set, where it is not known that none are left out: fills
/// copies_counted and cut_off, and where some are left out next_value and gap, for they come next.
/// @param centre see copies_cut_off; where a value is as far from it on the other side, its copies count as well.
template <class T>
void count_copies(const EigenProblem<T>&, std::optional<double> centre, EigenResult<T>&);

/// Beyond infinity the inverse goes on with the other end of the spectrum: where a side of the target holds
/// fewer eigenvalues than are wanted of it, the extreme ones of the inverse are all of them, and others,
/// which are dropped. So are values that rounding of the inverse brought there.
template <class T>
void keep_sides(const EigenProblem<T>&, const EigenOptions&, index_t n, EigenResult<T>&);

/// Has a side of the target as many eigenvalues in the set as are wanted of it, so that more may come behind them?
template <class T>
[[nodiscard]] bool fills_a_side(const EigenResult<T>&, const EigenOptions&, double target);

/// Does an error bound reach the target, so that the eigenvalue may lie on the other side of it?
template <class T>
[[nodiscard]] bool reaches_target(const EigenResult<T>&, double target);

/// The sides of a shift that was moved: are they those of the target? So if no eigenvalue lies at either.
template <class T>
[[nodiscard]] bool sides_hold(const EigenProblem<T>&);

/// The nearest to a shift that was moved: are they the nearest to the target as well, but for the tolerance?
template <class T>
[[nodiscard]] bool nearest_hold(const EigenResult<T>&, const EigenProblem<T>&, const EigenOptions&, index_t n);

/// A lower bound of the distance from a value of a complete set to what is not in it: from the first estimate outside,
/// or where there is none from the last value in the set, before which nothing else comes. Every way of verification
/// keeps eigenvalues out of half of the gap to that.
template <class T>
[[nodiscard]] std::function<double(double)> distance_outside(const EigenResult<T>&, const EigenOptions&,
                                                             std::optional<double> target, index_t n);

}  // namespace ts::inline v0::solvers
