// The solution of A x = lambda M x from that in standard form.
#pragma once

#include <vector>

#include "tallskinny/solvers/eigen/transform/mass.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"

namespace ts::inline v0::solvers {

/// What a pencil's solution says of itself beyond the standard form's.
struct PencilChecks {
  /// ||A x - lambda M x|| / ((||A|| + |lambda| ||M||) ||x||), norms of the matrices from below.
  std::vector<double> backward_errors;
};

/// The result of C y = lambda y becomes that of the pencil: vectors x with X^H M X = I, and from A and M
/// themselves the residual norms ||A x - lambda M x|| in the norm of M^-1 (which bounds the distance to an
/// eigenvalue), the loss ||I - X^H M X||, and what counts as converged.
/// @param a the A of the pencil, not C
template <class T>
PencilChecks to_pencil(const Context&, const Operator<T>& a, CsrView<T> mass, const MassFactor<T>&, const EigenOptions&,
                       EigenResult<T>& result);

}  // namespace ts::inline v0::solvers
