// The columns of other ranks that rows of a sparse matrix have entries in.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/ranks/device_csr_rows.hpp"
#include "tallskinny/solvers/ranks/row_shares.hpp"

namespace ts::inline v0::solvers::detail {

/// Rows `first`, `first` + 1, ... of a square matrix with global column numbers.
template <class T, class I>
struct SomeRows {
  const CsrView<T, Space::host, I>& a;
  index_t begin, rows;  ///< in `a`
  index_t first;        ///< of the whole matrix
  [[nodiscard]] bool here(index_t column) const noexcept { return column >= first && column < first + rows; }
  [[nodiscard]] index_t pointer(index_t i) const noexcept { return a.pointers[begin + i]; }
};

/// The columns of other ranks that these rows have entries in, ascending, and what they are.
template <class T, class I>
std::vector<index_t> halo_of(const SomeRows<T, I>& some, RankShare& share) {
  std::vector<index_t> halo;
  std::size_t enough = 1 << 16;
  const auto distinct = [&halo] {
    std::sort(halo.begin(), halo.end());
    halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
  };
  share = {};
  share.rows = some.rows;
  for (index_t i = 0; i < some.rows; ++i) {
    const index_t begin = some.pointer(i), end = some.pointer(i + 1);
    bool outer = false;
    for (index_t e = begin; e < end; ++e) {
      const auto column = static_cast<index_t>(some.a.indices[e]);
      expects(column >= 0 && column < some.a.cols, "a column number of the matrix by rows is beyond its columns");
      if (some.here(column)) continue;
      outer = true, halo.push_back(column);
    }
    share.entries += end - begin, share.longest = std::max(share.longest, end - begin);
    if (outer) ++share.outer;
    if (halo.size() > enough) distinct(), enough = 2 * halo.size() + enough;  // columns that come again and again
  }
  distinct();
  share.halo = std::ssize(halo);
  return halo;
}

/// Messages of a halo exchange: rows of `cols` elements without gaps that go to other ranks, and that come from them.
struct HaloPieces {
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
};
template <class T>
HaloPieces halo_pieces(std::span<const HaloMessage> to, const T* sent, std::span<const HaloMessage> from, T* arriving,
                       index_t cols) {
  const auto piece = [cols](auto* rows, const HaloMessage& m) {
    return std::span(rows + m.begin * cols, static_cast<std::size_t>(m.count * cols));
  };
  HaloPieces pieces;
  for (const HaloMessage& m : to) pieces.out.push_back({m.rank, std::as_bytes(piece(sent, m))});
  for (const HaloMessage& m : from) pieces.in.push_back({m.rank, std::as_writable_bytes(piece(arriving, m))});
  return pieces;
}

/// Offsets of the columns of each rank in an ascending list, and its end.
inline std::vector<index_t> cut_by_ranks(const std::vector<index_t>& columns, const RowSlabs& slabs) {
  std::vector<index_t> cuts;
  for (int r = 0; r <= slabs.slabs(); ++r)
    cuts.push_back(std::lower_bound(columns.begin(), columns.end(), slabs.begin(r)) - columns.begin());
  return cuts;
}

/// @throws Error(invalid_argument) unless a matrix of so many rows here and columns is distributed as the Context says.
inline void expect_own(const Context& ctx, index_t rows, index_t cols) {
  const index_t first = first_row(ctx), all = all_rows(ctx, rows);
  const bool mine = ctx.communicator->size() == 1 || ctx.slabs.rows(ctx.communicator->rank()) == rows;
  expects(all == cols && mine && first + rows <= all,
          "a matrix by rows must have as many columns as Context::slabs have rows, and its rows must be this rank's");
}

}  // namespace ts::inline v0::solvers::detail
