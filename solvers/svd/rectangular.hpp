// Rectangular matrices as something that multiplies blocks from both sides.
#pragma once

#include <functional>
#include <vector>

#include "tallskinny/solvers/operator.hpp"

namespace ts::solvers {

/// An m x n matrix A by its products with blocks (row-major, any width, never overlapping).
template <class T>
struct Rectangular {
  using Product = std::function<void(const Context&, HostView<const T> x, HostView<T> y)>;
  index_t rows = 0, cols = 0;
  Product times;          ///< Y = A X
  Product adjoint_times;  ///< Y = A^H X
};

/// A matrix in somebody else's memory.
template <class T>
[[nodiscard]] Rectangular<T> rectangular(CsrView<T> a);
template <class T>
[[nodiscard]] Rectangular<T> rectangular(HostView<const T> a);

/// A^H
template <class T>
[[nodiscard]] Rectangular<T> adjoint(Rectangular<T> a);

/// A - 1 mu^T for a row mu of A.cols numbers, without forming it.
template <class T>
[[nodiscard]] Rectangular<T> centred(Rectangular<T> a, std::vector<T> mu);

/// The mean of every column.
template <class T>
[[nodiscard]] std::vector<T> column_means(const Context&, const Rectangular<T>& a);

/// A^H A as an operator of n rows.
template <class T>
[[nodiscard]] Operator<T> gram_operator(Rectangular<T> a);

/// [0 A; A^H 0] as an operator of m + n rows: its eigenvalues are the singular values of A, their negatives,
/// and zeros; its eigenvectors [u; v] / sqrt(2). Source: Golub and Kahan 1965.
template <class T>
[[nodiscard]] Operator<T> augmented_operator(Rectangular<T> a);

}  // namespace ts::solvers
