// Sizes of each rank's part of a sparse matrix by rows, as a value.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/row_slabs.hpp"

namespace ts::inline v0::solvers {

/// Sizes of a rank's part of a sparse matrix by rows, and of its messages in each product.
struct RankShare {
  index_t rows = 0, entries = 0;
  index_t longest = 0;  ///< entries of its longest row
  index_t outer = 0;    ///< rows with entries in columns of other ranks, which wait for these
  index_t halo = 0;     ///< these columns: elements that it receives for each column of a block
  index_t sent = 0;     ///< elements that it sends for each column of a block
  friend bool operator==(const RankShare&, const RankShare&) = default;
};

/// Shares of all ranks, in their order.
struct RowShares {
  index_t element_bytes = 8;
  std::vector<RankShare> ranks;
  [[nodiscard]] index_t entries() const noexcept;
  [[nodiscard]] index_t longest() const noexcept;
  /// Elements that all ranks send together for each column of a block.
  [[nodiscard]] index_t sent_bytes() const noexcept;
  friend bool operator==(const RowShares&, const RowShares&) = default;
};

/// A line for each rank.
[[nodiscard]] std::string to_text(const RowShares& shares);

/// Shares of a whole square matrix if it were distributed so; needs no ranks. Shows what another order of rows, or
/// another distribution, gains.
/// @throws Error(invalid_argument) unless the matrix is square with the slabs' rows.
template <class T, class I>
[[nodiscard]] RowShares row_shares(const CsrView<T, Space::host, I>& whole, const RowSlabs& slabs);

}  // namespace ts::inline v0::solvers
