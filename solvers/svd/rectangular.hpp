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
  double cancelled = 0;   ///< norm of what cancels in the products, where that is more than ||A||
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

/// (I - U U^H) A (I - V V^H) with U and V orthonormal; they must outlive it.
template <class T>
[[nodiscard]] Rectangular<T> deflated(Rectangular<T> a, HostView<const T> u, HostView<const T> v);

/// The elements, by products with the columns of I.
template <class T>
[[nodiscard]] Matrix<T> as_dense(const Context&, const Rectangular<T>& a);

}  // namespace ts::solvers
