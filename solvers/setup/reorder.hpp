// The order of the rows of a sparse matrix. Products with it are faster where rows that follow each other meet the same
// rows of X.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::solvers {

enum class Reordering {
  none,
  rcm,    ///< reverse Cuthill-McKee (Cuthill and McKee 1969, George 1971): near the diagonal
  metis,  ///< nested dissection (Karypis and Kumar 1998): parts of the graph one after the other
};
[[nodiscard]] std::string_view name_of(Reordering kind) noexcept;

/// The row that takes each place of the new order, the same in every run. Neighbours of a row are the columns of its
/// entries.
/// @throws Error(invalid_argument) where METIS is asked for and is not there, or does not take a matrix of this size.
[[nodiscard]] std::vector<index_t> order_of(Reordering kind, index_t n, const index_t* pointers,
                                            const std::int32_t* indices);

/// Row and column i of the result are row and column order[i] of `a`; the columns of a row rise.
template <class T>
[[nodiscard]] CsrMatrix<T> reordered(const CsrMatrix<T>& a, std::span<const index_t> order);
/// Row i of the result is row order[i] of `x`.
template <class T>
[[nodiscard]] Matrix<T> reordered(HostView<const T> x, std::span<const index_t> order);
/// The inverse: row order[i] of the result is row i of `x`.
template <class T>
[[nodiscard]] Matrix<T> restored(HostView<const T> x, std::span<const index_t> order);

/// Where the entries of a matrix lie, and what that means for Y = A X.
struct Locality {
  double mean_distance = 0;  ///< of entries to the diagonal, in columns
  index_t bandwidth = 0;     ///< the largest distance
  int scattered = 0;         ///< SparseFacts::scattered
  double product_bytes = 0;  ///< what a product moves: A, Y, and lines of 64 bytes of X as often as they are met
};
template <class T>
[[nodiscard]] Locality locality_of(const CsrMatrix<T>& a, index_t columns_of_x);

}  // namespace ts::solvers
