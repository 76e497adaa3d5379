// Gram matrices with more digits than the type of X.
#pragma once

#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

/// X^H X from products and sums in float64. X: n x b, on a device for float64 and complex128 alone; the
/// result b x b.
template <class T>
[[nodiscard]] Matrix<wide_t<T>> gram_in_float64(const Context&, PlacedView<const T> x);

/// R = chol(X^H X), where the Gram matrix and its factor are computed with about twice the digits of X's
/// type and rounded at the end: R is the factor of a matrix within a few u of X, for any condition number up
/// to 1 / u. False, with R undefined, when Cholesky breaks down all the same or X is not finite.
/// float32: in float64. float64: each column of a chunk of 1024 rows is cut into three slices of 21 bits; all
/// nine products of slices are then exact in float64, and are added in pairs of float64. Source of the
/// slicing: Ozaki, Ogita, Oishi, Rump 2012, "Error-free transformations of matrix multiplication".
template <class T>
[[nodiscard]] bool wide_cholesky_factor(const Context&, HostView<const T> x, HostView<T> r);

}  // namespace ts::inline v0::ortho
