// The sparse matrices of the benchmark, row by row in closed form.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"

namespace ts::bench {

enum class Pattern {
  stencil,  ///< seven points on a cube: neighbouring rows meet neighbouring rows of X, and some far away
  band,     ///< 17 entries a row around the diagonal: each row of X is met again at once
  random,   ///< 16 entries a row anywhere: little of X is met again soon
  graph,    ///< 16 on average: lengths of rows and how often a column is met follow a power law
  blocks,   ///< of 64 rows; a block has 4 to 128 successive columns, 42 on average
};
inline constexpr Pattern every_pattern[] = {Pattern::stencil, Pattern::band, Pattern::random, Pattern::graph,
                                            Pattern::blocks};
[[nodiscard]] std::string_view name_of(Pattern kind) noexcept;

/// A square matrix; of a stencil, the points of a cube.
struct SparsePattern {
  Pattern kind = Pattern::stencil;
  index_t rows = 0;
  std::shared_ptr<const std::vector<index_t>> pointers;  ///< where rows begin, as CsrView has it

  static constexpr index_t least_rows = 128;

  [[nodiscard]] static SparsePattern of(Pattern kind, index_t rows);
  /// The largest one of at most so many rows, or of the least rows that there may be.
  [[nodiscard]] static SparsePattern of_rows(Pattern kind, double rows);
  [[nodiscard]] static double entries_a_row(Pattern kind) noexcept;

  /// Of the cube of a stencil.
  [[nodiscard]] index_t side() const;
  [[nodiscard]] index_t entries() const { return pointers->back(); }
  /// The number of the first entry of row i.
  [[nodiscard]] index_t first_entry(index_t i) const { return (*pointers)[static_cast<std::size_t>(i)]; }

  /// add(column) for each entry of row i. Columns of a graph stand in any order, and some twice.
  template <class Add>
  void row(index_t i, Add&& add) const {
    const index_t first = first_entry(i), count = first_entry(i + 1) - first;
    if (kind != Pattern::stencil) {
      for (index_t k = 0; k < count; ++k) add(column(i, first, k, count));
      return;
    }
    const index_t s = side(), layer = s * s, x = i % s, y = i / s % s, z = i / layer;
    if (z > 0) add(i - layer);
    if (y > 0) add(i - s);
    if (x > 0) add(i - 1);
    add(i);
    if (x + 1 < s) add(i + 1);
    if (y + 1 < s) add(i + s);
    if (z + 1 < s) add(i + layer);
  }

 private:
  [[nodiscard]] index_t length_of(index_t i) const;
  /// Of entry k of `count` in row i, which begins at entry `first`.
  [[nodiscard]] index_t column(index_t i, index_t first, index_t k, index_t count) const;
};

/// What a planner is told of it.
[[nodiscard]] SparseFacts facts_of(const SparsePattern& pattern);

/// The matrix, with value_at(e) (operands.hpp) as its e-th entry, from 1 on.
template <class T>
[[nodiscard]] CsrMatrix<T> sparse_matrix(const SparsePattern& pattern);

}  // namespace ts::bench
