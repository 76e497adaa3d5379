// Which of the eigenvalues found lie in an interval.
#pragma once

#include "tallskinny/solvers/eigen/interval/interval.hpp"

namespace ts::inline v0::solvers {

/// Drops what lies outside of the interval for certain, and fills next_value, gap, converged, verified and reason.
/// @param slack how far beyond an end a value may lie and count in, beside its error bound: the ends are closed,
/// and rounding of the matrix product is not to tell them from an eigenvalue.
template <class T>
void keep_inside(const Interval&, double slack, EigenResult<T>& result);

}  // namespace ts::inline v0::solvers
