// The end of every method: true residuals, orthogonality, order, multiplicities.
#pragma once

#include "tallskinny/solvers/eigen/lanczos.hpp"

namespace ts::solvers {

/// Orthonormalises X, solves the projected problem of A on it, and fills values, vectors, residual norms
/// (computed from A), error bounds, multiplicities, converged_pairs, converged_count, converged,
/// orthogonality_loss, and next_value with its gap.
/// @param x n x k, independent columns that span the wanted invariant subspace.
template <class T>
void finish(const Context&, const EigenProblem<T>&, const EigenOptions&, const Acceptance&, Matrix<T> x,
            double next_value, EigenResult<T>& result);

}  // namespace ts::solvers
