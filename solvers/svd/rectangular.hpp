// Rectangular matrices as something that multiplies blocks from both sides.
#pragma once

#include <functional>
#include <vector>

#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// An m x n matrix A by its products with blocks (row-major, any width, never overlapping), both in one place: in host
/// memory, or where A is at home.
template <class T>
struct Rectangular {
  using Product = std::function<void(const Context&, PlacedView<const T> x, PlacedView<T> y)>;
  index_t rows = 0, cols = 0;
  Product times;          ///< Y = A X
  Product adjoint_times;  ///< Y = A^H X
  Space space = Space::host;
  double cancelled = 0;  ///< norm of what cancels in the products, where that is more than ||A||
  /// G = A^H A, n x n on the host, where one pass over A tells it; or empty.
  std::function<void(const Context&, HostView<T> g)> gram = {};
  /// R of A = Q R, n x n on the host, where one pass over A tells it; or empty.
  std::function<void(const Context&, HostView<T> r)> triangle = {};
};

/// From so many rows a column on a matrix is tall.
[[nodiscard]] constexpr bool is_tall(index_t rows, index_t cols) noexcept { return 16 * cols <= rows; }
/// Up to this many columns A^H A of a dense matrix is formed.
inline constexpr index_t gram_columns = 4096;
/// A few passes over the rows of such a matrix give its largest singular values.
[[nodiscard]] constexpr bool is_tall_and_narrow(index_t rows, index_t cols) noexcept {
  return cols > 0 && cols <= gram_columns && is_tall(rows, cols);
}

/// A matrix in somebody else's memory, perhaps on the device of the Context's stream as well; a sparse one with its
/// transposed there (DeviceCsrMatrix::keep_transposed).
template <class T>
[[nodiscard]] Rectangular<T> rectangular(CsrView<T> a, CsrView<T, Space::device> there = {});
template <class T>
[[nodiscard]] Rectangular<T> rectangular(HostView<const T> a, DeviceView<const T> there = {});

/// A^H
template <class T>
[[nodiscard]] Rectangular<T> adjoint(Rectangular<T> a);

/// A - 1 mu^T for a row mu of A.cols numbers, without forming it.
template <class T>
[[nodiscard]] Rectangular<T> centred(const Context&, Rectangular<T> a, const std::vector<T>& mu);

/// `rows` ones in a column, in this place.
template <class T>
[[nodiscard]] PlacedMatrix<T> column_of_ones(const Context&, Space, index_t rows);

/// The mean of every column.
template <class T>
[[nodiscard]] std::vector<T> column_means(const Context&, const Rectangular<T>& a);

/// A^H A as an operator of n rows.
template <class T>
[[nodiscard]] Operator<T> gram_operator(Rectangular<T> a);

/// (I - U U^H) A (I - V V^H) with U and V orthonormal; they must outlive it.
template <class T>
[[nodiscard]] Rectangular<T> deflated(Rectangular<T> a, PlacedView<const T> u, PlacedView<const T> v);

/// The elements, by products with the columns of I, where A is at home.
template <class T>
[[nodiscard]] PlacedMatrix<T> as_dense(const Context&, const Rectangular<T>& a);

}  // namespace ts::inline v0::solvers
