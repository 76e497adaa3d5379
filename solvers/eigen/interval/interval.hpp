// All eigenvalues in an interval.
#pragma once

#include <functional>

#include "tallskinny/solvers/eigen/hermitian/solve.hpp"

namespace ts::inline v0::solvers {

/// Closed; either end may be infinite.
struct Interval {
  double low = 0, high = 0;
};

/// All eigenpairs with low <= lambda <= high, rising. How many there are is not asked: `nev` has no say.
///
/// With `invert` and `count_below` of the problem (and Method::automatic) the spectrum is sliced: the inertia
/// of A - t I on both sides of a gap proves how many eigenvalues lie in a slice (Sylvester), and as many are
/// sought nearest to its middle. A set that is called verified by Verification::inertia is complete because
/// the count equals the number of orthonormal vectors found whose residuals keep their eigenvalues inside.
/// Otherwise (Method::lanczos, Method::chebyshev, or nothing to factorise with) an end of the spectrum, or of
/// (A - c I)^2 for an interval inside of it, is searched until a value outside appears: complete as far as
/// solve_eigen's search for missing copies can tell. A value whose error bound reaches across an end cannot
/// be told from one inside: it is part of the set, and `reason` says how many there are. Source of the
/// slicing: Grimes, Lewis, Simon 1994, "A shifted block Lanczos algorithm for solving sparse symmetric
/// generalized eigenproblems".
/// @param counted called with the number of vectors that will be kept, once it is known.
/// Ranks call it together; they do not compute all eigenvalues.
/// @throws Error(invalid_argument) for an interval that is empty by its ends or not a number, or for ranks that would
/// have to compute all.
template <class T>
[[nodiscard]] EigenResult<T> solve_interval(const Context&, const EigenProblem<T>&, const EigenOptions&, Interval,
                                            const std::function<void(index_t)>& counted = {});

}  // namespace ts::inline v0::solvers
