// Eigenvalues of largest magnitude, and those of both ends, from both ends of the spectrum, each by a run of its own.
#pragma once

#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"

namespace ts::inline v0::solvers {

/// BE: half of the wanted from each end. LM, the `nev` of largest magnitude: as many of the lowest and of the
/// highest as can be among them, and of both together those of largest magnitude. Each end by solve_eigen with SA or
/// LA, which verifies its set; complete where both are. Fills what `finish` fills, verification and stop; adds the
/// work to `result`.
/// @param beyond at each end so many eigenvalues may be among the wanted; all others are of smaller magnitude.
template <class T>
void solve_both_ends(const Context&, const EigenProblem<T>&, const EigenOptions&, Ends beyond,
                     HostView<const T> initial, EigenResult<T>& result);

}  // namespace ts::inline v0::solvers
