// Sparse matrices in compressed sparse row form.
#pragma once

#include <vector>

#include "tallskinny/gemm/core/view.hpp"

namespace ts {

/// A rows x cols sparse matrix in somebody else's memory. Row i holds the entries
/// pointers[i] .. pointers[i + 1] - 1 of `indices` (column numbers) and `values`.
/// Column numbers need not be sorted; duplicates add up. I is the type of a column number: 32-bit, which
/// moves a third less memory per float64 entry, unless there are more than 2^31 columns.
template <class T, Space S = Space::host, class I = std::int32_t>
struct CsrView {
  using value_type = T;
  index_t rows = 0, cols = 0;
  const index_t* pointers = nullptr;  ///< rows + 1 entries, pointers[0] = 0, non-decreasing
  const I* indices = nullptr;         ///< pointers[rows] column numbers in [0, cols)
  const T* values = nullptr;          ///< pointers[rows] values
  index_t stored = 0;  ///< of a matrix in device memory: pointers[rows] where it is known, 0 where it is not

  [[nodiscard]] index_t nonzeros() const noexcept requires(S == Space::host) {
    return rows == 0 ? 0 : pointers[rows];
  }
};

/// An owned sparse matrix; the invariants of CsrView hold.
template <class T, class I = std::int32_t>
struct CsrMatrix {
  using value_type = T;
  index_t rows = 0, cols = 0;
  std::vector<index_t> pointers = {0};
  std::vector<I> indices;
  std::vector<T> values;

  [[nodiscard]] index_t nonzeros() const noexcept { return pointers.back(); }
  [[nodiscard]] CsrView<T, Space::host, I> view() const noexcept {
    return {rows, cols, pointers.data(), indices.data(), values.data()};
  }
};

}  // namespace ts
