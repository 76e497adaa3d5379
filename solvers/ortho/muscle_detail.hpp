// Implementations of the muscles, on operations that are counted. Shapes are checked.
#pragma once

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/ortho/muscle.hpp"

namespace ts::inline v0::ortho::detail {

// R is the identity on entry, or what is to be multiplied by the factor.

template <class T>
Factored factorise(Tall<T>&, ShiftedCholQr3, PlacedView<T> x, HostView<T> r);
template <class T>
Factored factorise(Tall<T>&, Svqb, PlacedView<T> x, HostView<T> r);
template <class T>
Factored factorise(Tall<T>&, HouseholderQr, PlacedView<T> x, HostView<T> r);
template <class T>
Factored factorise(Tall<T>&, Ladder, PlacedView<T> x, HostView<T> r);

template <class T>
Matrix<T> gram_of(Tall<T>& tall, PlacedView<const T> x) {
  Matrix<T> g(x.cols(), x.cols());
  tall.gram(x, g.view());
  return g;
}

/// X = X chol(G)^-1, R = chol(G) R; false and nothing changed when Cholesky breaks down.
template <class T>
[[nodiscard]] bool cholesky_step(Tall<T>&, Matrix<T> g, PlacedView<T> x, HostView<T> r);

/// A Cholesky step with the given Gram matrix and one with that of the result. False when the first left
/// columns too far from orthonormal for the second to reach O(u).
template <class T>
[[nodiscard]] bool two_cholesky_steps(Tall<T>&, Matrix<T> g, PlacedView<T> x, HostView<T> r);

}  // namespace ts::inline v0::ortho::detail
