// Muscles: orthonormalise one tall block on its own, X = Q R. Each method is a small value type; the verb is
// one overloaded function.
#pragma once

#include "tallskinny/gemm/backend/context.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::ortho {

/// Cholesky QR: one reduction, loss of orthogonality O(u) kappa(X)^2.
struct CholQr {
  static constexpr int reductions = 1;
};
/// Cholesky QR twice: loss O(u) while kappa(X) < u^-1/2. Source: Fukaya et al. 2014.
struct CholQr2 {
  static constexpr int reductions = 2;
};
/// A first Cholesky QR of the shifted Gram matrix, then CholQr2: loss O(u) while kappa(X) < 1 / u.
/// Source: Fukaya et al. 2020, "Shifted Cholesky QR for computing the QR factorization of ill-conditioned
/// matrices".
struct ShiftedCholQr3 {
  static constexpr int reductions = 3;
};
/// Rank-revealing: eigenvectors of the column-scaled Gram matrix (SVQB, Stathopoulos and Wu 2002), repeated
/// on the weak directions after the strong ones are projected out of them, so that directions are told apart
/// down to `dead` and not only to its square root. A direction whose norm is at most `dead` (absolute, in
/// the units of X's columns) is noise: it is dropped.
struct Svqb {
  double dead = 0;
};
/// Column-pivoted Householder QR on one thread: the last rung, and what the others are tested against.
/// Directions of norm at most `dead` are dropped.
struct HouseholderQr {
  double dead = 0;
};
/// CholQr2, and on breakdown ShiftedCholQr3, Svqb, HouseholderQr: the first that succeeds. Columns and
/// directions of norm at most `dead` are dropped.
struct Ladder {
  double dead = 0;
};

/// Which method delivered.
enum class Rung { chol_qr, shifted, svqb, householder, failed };

struct Factored {
  index_t rank = 0;  ///< columns of Q; those of X behind them are undefined
  Rung rung = Rung::failed;
};

/// X = Q R in place: on return X(:, 0 .. rank-1) = Q is orthonormal, with R(0 .. rank-1, :) such that the
/// input was Q R (to rounding, and up to dead directions); rows of R below the rank are zero. CholQr, CholQr2
/// and ShiftedCholQr3 know only full rank: on breakdown the rung is `failed`, the rank 0, and X_in = X R
/// still holds with columns that are not orthonormal. Svqb, HouseholderQr and Ladder fail only for NaN or
/// Inf. X: n x b, R: b x b. T: double or std::complex<double>.
template <class T>
Factored orthonormalise(const Context&, CholQr, HostView<T> x, HostView<T> r);
template <class T>
Factored orthonormalise(const Context&, CholQr2, HostView<T> x, HostView<T> r);
template <class T>
Factored orthonormalise(const Context&, ShiftedCholQr3, HostView<T> x, HostView<T> r);
template <class T>
Factored orthonormalise(const Context&, Svqb, HostView<T> x, HostView<T> r);
template <class T>
Factored orthonormalise(const Context&, HouseholderQr, HostView<T> x, HostView<T> r);
template <class T>
Factored orthonormalise(const Context&, Ladder, HostView<T> x, HostView<T> r);

/// ||I - X^H X||_2, the loss of orthogonality of any tall matrix.
template <class T>
[[nodiscard]] double loss_of_orthogonality(const Context&, HostView<const T> x);

}  // namespace ts::ortho
