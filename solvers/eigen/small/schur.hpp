// The Schur form of a small matrix, in an order of one's own.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tallskinny/solvers/eigen/small/parts.hpp"

namespace ts::inline v0::solvers {

/// H = U T U^H with T upper triangular. Diagonal elements come in units that are never separated: one, or for
/// a real H the two of a conjugate pair, that with the positive imaginary part first.
struct Schur {
  Matrix<Complex> t, u;
  std::vector<index_t> units;  ///< sizes, from the top

  [[nodiscard]] index_t size() const noexcept { return t.rows(); }
  [[nodiscard]] Complex value(index_t i) const { return t(i, i); }
};

/// @throws Error(bad_input) where the QR algorithm does not converge.
template <class T>
[[nodiscard]] Schur schur_of(HostView<const T> h);

/// Brings units into rising order of `key` of their first value; equal keys keep their order. Source: Bai and
/// Demmel 1993 (swaps), here by rotations of the complex form.
void sort_schur(Schur& schur, const std::function<double(Complex)>& key);

/// Columns: the unit eigenvectors of H for the first k diagonal elements, and the condition numbers 1 / |y^H
/// x| of those eigenvalues of H. Copies that only rounding couples are taken for uncoupled.
struct SchurVectors {
  Matrix<Complex> vectors;
  std::vector<double> conditions;
};
[[nodiscard]] SchurVectors eigenvectors_of(const Schur& schur, index_t k);
/// The same for the diagonal elements named; the bits do not depend on the number of threads.
[[nodiscard]] SchurVectors eigenvectors_of(const Schur& schur, std::span<const index_t> which, int threads = 1);

/// An orthonormal basis of the span of the first k Schur vectors, real if T is (k then ends a unit).
template <class T>
[[nodiscard]] Matrix<T> leading_basis(const Schur& schur, index_t k);

}  // namespace ts::inline v0::solvers
