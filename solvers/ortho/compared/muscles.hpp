// Every muscle: those of ../muscle.hpp, and others that are here to be compared with them.
#pragma once

#include <cstdint>
#include <variant>

#include "tallskinny/solvers/ortho/muscle.hpp"

namespace ts::inline v0::ortho {

/// Cholesky QR whose Gram matrix and Cholesky factor have twice the digits of X, then a plain Cholesky QR:
/// loss O(u) while kappa < 1 / u. Source: Yamazaki, Tomov, Dongarra 2015, "Mixed-precision Cholesky QR
/// factorization and its case studies on multicore CPU with multiple GPUs".
struct MixedCholQr {
  static constexpr int reductions = 2, passes = 4;
};
/// X is preconditioned by the triangular factor of a random sketch of it (a sparse sign matrix of 4 b rows),
/// then a plain Cholesky QR: loss O(u) while kappa < 1 / u, with high probability. Source: Balabanov 2022,
/// "Randomized Cholesky QR factorizations"; Higgins, Szyld, Boman, Yamazaki 2023.
struct RandomisedCholQr {
  static constexpr int reductions = 2, passes = 4;
  std::uint64_t seed = 0;
};
/// Householder QR of row chunks, whose triangles are factorised in the same way up to the root of a tree:
/// loss O(u) unconditionally. Source: Demmel, Grigori, Hoemmen, Langou 2012, "Communication-optimal parallel
/// and sequential QR and LU factorizations".
struct Tsqr {
  static constexpr int reductions = 1, passes = 2;
};
using Muscle =
    std::variant<CholQr, CholQr2, ShiftedCholQr3, MixedCholQr, RandomisedCholQr, Svqb, Tsqr, HouseholderQr, Ladder>;

/// X = Q R in place: on return X(:, 0 .. rank-1) = Q is orthonormal, with R(0 .. rank-1, :) such that the
/// input was Q R (to rounding, and up to dead directions); rows of R below the rank are zero. Svqb,
/// HouseholderQr and Ladder reveal the rank and fail only for NaN or Inf. The others know only full rank (and
/// n >= b): on breakdown the rung is `failed`, the rank 0, and X holds unspecified columns. No result holds
/// NaN unless X did. X: n x b, R: b x b. X may be on a device, but for MixedCholQr, RandomisedCholQr and
/// Tsqr. T: one of the four result types. @throws Error(invalid_argument) for shapes that do not fit.
template <class T>
Factored orthonormalise(const Context&, const Muscle&, PlacedView<T> x, HostView<T> r);

}  // namespace ts::inline v0::ortho
