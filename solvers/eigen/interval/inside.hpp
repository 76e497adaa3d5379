// Which of the eigenvalues found lie in an interval.
#pragma once

#include "tallskinny/solvers/eigen/interval/interval.hpp"

namespace ts::inline v0::solvers {

/// Does the error bound of a value reach into the interval?
template <class T>
[[nodiscard]] bool reaches_into(const EigenResult<T>& result, const Interval&, index_t j);

/// Drops what lies outside of the interval by more than its error bound, and fills next_value, gap, converged,
/// verified and reason.
/// @param counted counts at the ends agree with what is kept
template <class T>
void keep_inside(const Interval&, bool counted, EigenResult<T>& result);

}  // namespace ts::inline v0::solvers
