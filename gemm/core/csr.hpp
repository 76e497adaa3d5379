// Sparse matrices in compressed sparse row form.
#pragma once

#include <compare>
#include <limits>
#include <vector>

#include "tallskinny/gemm/core/csr_parts_policy.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::inline v0 {

namespace cuda {
class Kept;  // runtime/gpu/kept.hpp has it
}  // namespace cuda

/// What the planner of a GPU asks of a sparse matrix beside its size.
struct SparseFacts {
  index_t parts = 0, splits = 0, long_splits = 0;  ///< as CsrParts has them; 0 parts: not known
  index_t longest = 0;                             ///< entries of the longest row
  int uneven = 0;      ///< what rows would have more if any 8 successive ones were as long as their longest, in percent
  int scattered = 0;   ///< groups of 8 columns that 256 successive rows meet, in percent of their entries
  index_t of_row = 0;  ///< entries of a row on average where the matrix is part of another one; 0: it is not
  index_t reach = -1;  ///< how far columns are from the diagonal, for spmm_recurrence on a processor; -1: not known
  friend auto operator<=>(const SparseFacts&, const SparseFacts&) = default;
};

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
  // Of a matrix in device memory, as far as they are known (DeviceCsrMatrix knows them):
  index_t stored = 0;  ///< pointers[rows]
  CsrParts parts = {};
  SparseFacts facts = {};
  const CsrView* transposed = nullptr;  ///< A^T
  cuda::Kept* kept = nullptr;           ///< what libraries prepare once for a matrix

  [[nodiscard]] index_t nonzeros() const noexcept requires(S == Space::host) { return rows == 0 ? 0 : pointers[rows]; }
};

/// The pattern of `a` with other values, in the same memory space; A^T is not known.
template <class N, class T, Space S, class I>
[[nodiscard]] constexpr CsrView<N, S, I> with_values(const CsrView<T, S, I>& a, const N* values) noexcept {
  return {a.rows, a.cols, a.pointers, a.indices, values, a.stored, a.parts, a.facts};
}

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

/// A^T; a row's entries stand in the order of A's rows.
/// @throws Error(invalid_argument) where I cannot number A's rows.
template <class T, class I>
[[nodiscard]] CsrMatrix<T, I> transposed(const CsrView<T, Space::host, I>& a) {
  expects(a.rows == 0 || a.rows - 1 <= static_cast<index_t>(std::numeric_limits<I>::max()),
          "the transposed of a sparse matrix has more columns than its index type can number");
  CsrMatrix<T, I> t;
  const auto stored = static_cast<std::size_t>(a.nonzeros());
  t.rows = a.cols, t.cols = a.rows;
  t.pointers.assign(static_cast<std::size_t>(a.cols) + 1, 0);
  t.indices.resize(stored), t.values.resize(stored);
  for (std::size_t e = 0; e < stored; ++e) ++t.pointers[static_cast<std::size_t>(a.indices[e]) + 1];
  for (std::size_t j = 1; j < t.pointers.size(); ++j) t.pointers[j] += t.pointers[j - 1];
  std::vector<index_t> next(t.pointers.begin(), t.pointers.end() - 1);
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(a.indices[e])]++);
      t.indices[at] = static_cast<I>(i), t.values[at] = a.values[e];
    }
  return t;
}

}  // namespace ts::inline v0

/// TS_FUNCTION of one that has the type of column numbers for a second parameter.
#define TS_INDEXED_FUNCTION(T, name)                              \
  template decltype(name<T, std::int32_t>) name<T, std::int32_t>; \
  template decltype(name<T, std::int64_t>) name<T, std::int64_t>;
