// All eigenvalues of a Hermitian matrix at once.
#pragma once

#include "tallskinny/solvers/eigen/values/problem.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"

namespace ts::inline v0::solvers {

/// The k wanted of all eigenpairs, by a dense_solver() where the operator is at home: n^2 numbers of memory, from n
/// products with unit vectors.
/// @throws Error(bad_input) for a matrix with NaN or Inf.
template <class T>
void solve_dense(const Context&, const EigenProblem<T>&, const EigenOptions&, index_t k, EigenResult<T>& result);

}  // namespace ts::inline v0::solvers
