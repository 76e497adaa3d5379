// A sparse matrix cut into parts of equal work, whatever the lengths of its rows: what host code and kernels both know.
//
// An entry is a unit of work, and so is the end of a row, which keeps rows without entries from piling up in one part
// (Merrill and Garland, Merge-based parallel sparse matrix-vector multiplication, SC 2016). The units stand in the
// order of the rows: the entries of row 0, its end, the entries of row 1, ...
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts::inline v0 {

/// Units of a part: seven entries for each lane of a warp.
inline constexpr int csr_part = 224;

[[nodiscard]] constexpr index_t csr_part_count(index_t rows, index_t entries) noexcept {
  return (rows + entries + csr_part - 1) / csr_part;
}

/// How many of the first `units` units are ends of rows, which is where a cut after them lies; the others are entries.
/// Known to be at least `first` and at most `last`.
[[nodiscard]] constexpr index_t rows_ended(const index_t* pointers, index_t first, index_t last,
                                           index_t units) noexcept {
  while (first < last) {  // the end of row r is unit pointers[r + 1] + r
    const index_t r = first + (last - first) / 2;
    if (pointers[r + 1] + r < units)
      first = r + 1;
    else
      last = r;
  }
  return first;
}

/// A row that begins in part `first` and does not end before part `first + count`.
struct SplitRow {
  index_t row, first, count;
};
/// Rows of more parts than this are added up by a block each.
inline constexpr index_t few_parts = 32;

/// The parts of a matrix.
struct CsrParts {
  const index_t* cuts = nullptr;  ///< of each part and of the end, the rows that end before it
  index_t count = 0;
  const SplitRow* splits = nullptr;          ///< those of more than few_parts parts first
  index_t split_count = 0, long_splits = 0;  ///< of all, and of those first ones
};

/// Entries of a part for each of `teams`: odd, so that teams read shared memory at different banks.
[[nodiscard]] constexpr int team_share(int entries, int teams) noexcept { return ((entries + teams - 1) / teams) | 1; }

}  // namespace ts::inline v0
