// The order of the rows of a sparse matrix. Products with it are faster where rows that follow each other meet the same
// rows of X.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/row_slabs.hpp"

namespace ts::inline v0::solvers {

/// How rows are put in another order.
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

/// The place of each row in an order.
[[nodiscard]] std::vector<index_t> inverse_of(std::span<const index_t> order);

/// Bytes that all ranks send for each column of a block: with the rows in their order now, and in another one.
struct SentBytes {
  index_t now = 0, then = 0;
  [[nodiscard]] bool less() const noexcept { return then < now; }
};
/// The order of rows that ranks have by units, and what that saves them. METIS cuts the graph into as many parts as
/// there are units of rows; those of a part follow each other as reverse Cuthill-McKee has them.
struct RanksOrder {
  std::vector<index_t> order;  ///< depends on nothing but the pattern
  RowSlabs slabs;              ///< the distribution of its rows
  SentBytes ranks;
  SentBytes units;  ///< if each unit of rows had a rank of its own: the same for every number of ranks
};
/// @param a the whole matrix, or its pattern: values may be missing
/// @param now how its rows are distributed, by units
/// @throws Error(invalid_argument) as order_of.
template <class T>
[[nodiscard]] RanksOrder order_for_ranks(Reordering kind, const CsrMatrix<T>& a, const RowSlabs& now);
/// Each unit of rows a slab.
[[nodiscard]] RowSlabs unit_slabs(index_t rows);

/// Row and column i of the result are row and column order[i] of `a`; the columns of a row rise. A pattern without
/// values gives one.
template <class T>
[[nodiscard]] CsrMatrix<T> reordered(const CsrMatrix<T>& a, std::span<const index_t> order);
/// Where the entries of a matrix lie, and what that means for Y = A X.
struct Locality {
  double mean_distance = 0;  ///< of entries to the diagonal, in columns
  index_t bandwidth = 0;     ///< the largest distance
  int scattered = 0;         ///< SparseFacts::scattered
  double product_bytes = 0;  ///< what a product moves: A, Y, and lines of 64 bytes of X as often as they are met
};
template <class T>
[[nodiscard]] Locality locality_of(const CsrMatrix<T>& a, index_t columns_of_x);

}  // namespace ts::inline v0::solvers
