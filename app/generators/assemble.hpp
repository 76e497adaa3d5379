// Sparse matrices row by row.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"

namespace ts::generators {

/// The entries of one row, in any order; entries of the same column add up.
template <class T>
class RowEntries {
 public:
  void add(index_t col, T value) { entries_.emplace_back(col, value); }

  void move_to(CsrMatrix<T>& matrix) {
    std::stable_sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      if (e > 0 && entries_[e].first == entries_[e - 1].first) {
        matrix.values.back() += entries_[e].second;
      } else {
        matrix.indices.push_back(static_cast<std::int32_t>(entries_[e].first));
        matrix.values.push_back(entries_[e].second);
      }
    }
    matrix.pointers.push_back(static_cast<index_t>(matrix.values.size()));
    entries_.clear();
  }

 private:
  std::vector<std::pair<index_t, T>> entries_;
};

/// The matrix whose row i is what `row(i, entries)` adds to its RowEntries. `entries_per_row`, a
/// bound of their average number, sizes the memory.
template <class T, class Row>
CsrMatrix<T> assemble(index_t rows, index_t cols, index_t entries_per_row, Row&& row) {
  expects(rows >= 0 && cols >= 0, "a generated matrix needs non-negative rows and columns");
  expects(cols <= std::numeric_limits<std::int32_t>::max(), "a generated matrix may have at most 2^31 - 1 columns");
  CsrMatrix<T> matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.pointers.reserve(static_cast<std::size_t>(rows) + 1);
  matrix.indices.reserve(static_cast<std::size_t>(rows * entries_per_row));
  matrix.values.reserve(static_cast<std::size_t>(rows * entries_per_row));
  RowEntries<T> entries;
  for (index_t i = 0; i < rows; ++i) {
    row(i, entries);
    entries.move_to(matrix);
  }
  return matrix;
}

}  // namespace ts::generators
