// Muscles: orthonormalise one tall block on its own, X = Q R. Each method is a small value type; the verb is
// one function.
#pragma once

#include "tallskinny/solvers/ortho/tall.hpp"

namespace ts::inline v0::ortho {

// u is the unit roundoff, kappa the condition number of X.

/// Cholesky QR of the shifted Gram matrix, then twice Cholesky QR: loss O(u) while kappa < 1 / u. Source: Fukaya et al.
/// 2020, "Shifted Cholesky QR for computing the QR factorization of ill-conditioned matrices".
struct ShiftedCholQr3 {};
/// Rank-revealing: eigenvectors of the column-scaled Gram matrix (SVQB, Stathopoulos and Wu 2002), repeated
/// on the weak directions after the strong ones are projected out of them, so that directions are told apart
/// down to `dead` and not only to its square root. A direction whose norm is at most `dead` (absolute, in
/// the units of X's columns) is noise: it is dropped.
struct Svqb {
  double dead = 0;
};
/// Column-pivoted Householder QR on one thread, in host memory: the last rung, and what the others are tested against.
/// On several ranks, and at level gpu_to_gpu, of parts of the rows and then of their factors, which all ranks gather.
/// Directions of norm at most `dead` are dropped.
struct HouseholderQr {
  double dead = 0;
};
/// Twice Cholesky QR (loss O(u) while kappa < u^-1/2; Fukaya et al. 2014), and on breakdown ShiftedCholQr3, Svqb,
/// HouseholderQr: the first that succeeds. Columns and directions of norm at most `dead` are dropped.
struct Ladder {
  double dead = 0;
};

/// The method that succeeded.
enum class Rung { chol_qr, shifted, svqb, householder, failed };

/// Outcome of an orthonormalisation.
struct Factored {
  index_t rank = 0;  ///< columns of Q; those of X behind them are undefined
  Rung rung = Rung::failed;
  Work work;
};

/// X = Q R in place: on return X(:, 0 .. rank-1) = Q is orthonormal, with R(0 .. rank-1, :) such that the
/// input was Q R (to rounding, and up to dead directions); rows of R below the rank are zero. Fails only for
/// NaN or Inf. X: n x b, R: b x b. T: one of the four result types.
/// @throws Error(invalid_argument) for shapes that do not fit.
template <class T>
Factored orthonormalise(const Context&, Ladder, PlacedView<T> x, HostView<T> r);
template <class T>
Factored orthonormalise(const Context&, HouseholderQr, PlacedView<T> x, HostView<T> r);

/// ||I - X^H X||_2, the loss of orthogonality of any tall matrix, from inner products in float64; NaN if X
/// holds NaN.
template <class T>
[[nodiscard]] double loss_of_orthogonality(const Context&, PlacedView<const T> x);

/// An upper bound of loss_of_orthogonality() that takes no eigenvalues beyond 128 columns: the lesser of the Frobenius
/// norm and the largest sum along a row. Up to 128 columns the same number.
template <class T>
[[nodiscard]] double bound_of_loss(const Context&, PlacedView<const T> x);

}  // namespace ts::inline v0::ortho
