// Eigenvalues of Hermitian operators: the one entry.
#pragma once

#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/eigen/values/state.hpp"

namespace ts::inline v0::solvers {

/// The wanted eigenpairs by block Lanczos with thick restart, or by a dense solver where the matrix is small.
/// The set is called verified only after a search for missing copies found none; see README.md beside this
/// file.
///
/// On several ranks each has the rows that ctx.slabs gives it: of every operator, initial vector and vector found.
/// All else is the same on all, options and what functions of the problem say included; only `progress`, `stop` and
/// `due` may be those of one rank. At level gpu_to_gpu the bits are those of one rank. Dense solvers work on one.
/// @param initial n x c, a warm start of any number of columns (0 columns: random).
/// @throws Error(invalid_argument) naming the option that cannot be met, Error(bad_input) for an operator that gives
/// NaN or Inf. Not converging is a returned outcome.
/// @param checkpointing of block Lanczos; a dense solve takes no part in it. A resumed run must get the same
/// problem, options and initial columns (the budget of iterations may differ) and gives the bits of a run
/// that was never interrupted.
template <class T>
[[nodiscard]] EigenResult<T> solve_eigen(const Context&, const EigenProblem<T>&, const EigenOptions&,
                                         HostView<const T> initial = {}, const Checkpointing<T>& checkpointing = {});

}  // namespace ts::inline v0::solvers
