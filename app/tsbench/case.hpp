// One cell of a table: a problem and how its tall operands lie in memory, on the host or on a GPU; the sparse matrices
// of the benchmark, row by row in closed form.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/problem.hpp"
#include "tallskinny/gemm/core/view.hpp"

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

  /// Side of the cube of a stencil.
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
  /// Column of entry k of `count` in row i, which begins at entry `first`.
  [[nodiscard]] index_t column(index_t i, index_t first, index_t k, index_t count) const;
};

/// Facts of a pattern for planners.
[[nodiscard]] SparseFacts facts_of(const SparsePattern& pattern);

/// The matrix, with value_at(e) (operands.hpp) as its e-th entry, from 1 on.
template <class T>
[[nodiscard]] CsrMatrix<T> sparse_matrix(const SparsePattern& pattern);

struct Shape {
  index_t p, q;
};
/// True if there is such an operation for the type and shape.
[[nodiscard]] bool exists(Operation op, DType type, Shape s);

/// True if the operation changes an operand in place.
[[nodiscard]] bool in_place(Operation op) noexcept;
[[nodiscard]] bool tall_result(Operation op) noexcept;
/// Columns of the tall result.
[[nodiscard]] index_t out_width(const Problem& problem) noexcept;

/// The problem with about `bytes` of minimum traffic.
[[nodiscard]] Problem problem_of(Operation op, DType type, index_t p, index_t q, std::int64_t bytes,
                                 Pattern pattern = Pattern::stencil);

struct Case {
  std::string table;  ///< the part of the whole that it belongs to
  Problem problem;
  Layout layout = Layout::row_major;   ///< of the tall operands
  index_t gap = 0;                     ///< elements between their lines
  index_t offset = 0;                  ///< elements by which their first one is off an aligned address
  Pattern pattern = Pattern::stencil;  ///< of the sparse matrix, where there is one
  SparseFacts sparse = {};             ///< of that matrix

  /// "rows", "columns", "rows +1" (a gap), "rows @1" (an offset); of sparse matrices but stencils, the pattern.
  [[nodiscard]] std::string form() const;

  /// A tall operand in memory that begins at `base`.
  template <class T, Space S = Space::device>
  [[nodiscard]] Strided<T, S> tall(T* base, index_t rows, index_t columns) const {
    const bool by_rows = layout == Layout::row_major;
    const index_t ld = (by_rows ? columns : rows) + gap;
    return Strided<T, S>(base + offset, rows, columns, by_rows ? ld : 1, by_rows ? 1 : ld);
  }
  /// Bytes that memory moves where lines have gaps: whole sectors of 32 bytes, and those of a result that are
  /// written in part are read as well. Of rows at any offset, on average.
  [[nodiscard]] double sector_bytes() const;
  /// Bytes from an operand's base to its end, in whole aligned lines.
  [[nodiscard]] std::size_t tall_bytes(index_t rows, index_t columns, std::size_t element) const noexcept;
};

/// Makes the cases of a table for one type.
struct CaseMaker {
  std::string table;
  DType type;
  std::int64_t bytes;  ///< the memory traffic of one run where the table does not fix it
  std::vector<Case> cases;

  /// Adds the case if there is such an operation.
  bool add(Operation op, index_t p, index_t q, Layout layout = Layout::row_major, index_t gap = 0, index_t offset = 0,
           Pattern pattern = Pattern::stencil);
};

/// The named tables that make up the whole of what tsbench gpu measures.
struct Table {
  std::string_view name, what;
  void (*make)(CaseMaker&);
};
[[nodiscard]] std::span<const Table> tables() noexcept;
/// @throws Error(invalid_argument) for a name that is none.
[[nodiscard]] std::vector<Case> table_cases(const std::string& name, DType type, std::int64_t bytes);

/// A selection of operations and shapes in place of tables.
struct Selection {
  std::vector<Operation> operations;
  std::vector<Shape> shapes;
  std::int64_t bytes = 0;
  index_t rows = 0;  ///< instead of a traffic; 0: by bytes
  Layout layout = Layout::row_major;
  index_t gap = 0, offset = 0;
};
[[nodiscard]] std::vector<Case> selected_cases(const Selection& selection, DType type);

}  // namespace ts::bench
