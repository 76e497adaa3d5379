// Sparse matrices from their entries one by one, in any order, and from compressed lines that were read as a whole.
#pragma once

#include <functional>
#include <vector>

#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/memory.hpp"

namespace ts::inline v0::io {

/// Entries (row, column, value) that pass by. Those in the rows of a range are kept, of a triangle their mirror images
/// there, too: who reads some rows holds no others.
template <class T>
class Pairs {
 public:
  /// @param rows, cols of the whole matrix
  /// @param mirrored the structure of a triangle; general: entries are all there are
  /// @param hold called with a number of bytes before they are taken, including those of the final rows
  Pairs(index_t rows, index_t cols, RowRange range, Structure mirrored, Subject subject,
        std::function<void(std::uint64_t)> hold);

  /// Reserves space for `entries` pairs, without a call of `hold`.
  void reserve(index_t entries);
  /// Adds an entry. @throws Error(bad_input) for a row outside the matrix.
  void add(index_t row, index_t col, T value) {
    if (row < 0 || row >= rows_) refuse(row);
    ++seen_;
    keep(row, col, value);
    if (mirrored_ != Structure::general && row != col) keep(col, row, mirror_image(value, mirrored_));
  }
  [[nodiscard]] index_t kept() const noexcept { return std::ssize(values_); }

  /// The rows of the range. @throws Error(bad_input) for columns out of range and, unless accepted, duplicates.
  [[nodiscard]] CsrMatrix<T> assembled() &&;

 private:
  void keep(index_t row, index_t col, T value) {
    if (row < range_.begin || row >= range_.end) return;
    if (values_.size() == values_.capacity()) grow();
    places_.push_back(row - range_.begin), columns_.push_back(static_cast<std::int32_t>(col));
    values_.push_back(value);
  }
  void grow();
  [[noreturn]] void refuse(index_t row) const;

  index_t rows_, cols_;
  RowRange range_;
  Structure mirrored_;
  Subject subject_;
  std::function<void(std::uint64_t)> hold_;
  index_t seen_ = 0;
  std::vector<index_t> places_;  ///< rows, counted from the first one of the range
  std::vector<std::int32_t> columns_;
  std::vector<T> values_;
};

/// The rows that options choose of a matrix without a declared structure: each(add) calls add(row, column, value) for
/// all of its entries. @throws Error(bad_input) as Pairs and check_finite, naming `name`.
template <class T, class Each>
[[nodiscard]] CsrMatrix<T> collected(const Description& d, const std::string& name, const ReadOptions& options,
                                     const Each& each) {
  Pairs<T> pairs(d.rows, d.cols, row_range(d.rows, options), Structure::general,
                 Subject{name, false, options.accept_unsorted},
                 [&](std::uint64_t bytes) { require_memory(bytes, options.memory_limit, name); });
  each([&](index_t row, index_t col, T value) { pairs.add(row, col, value); });
  auto a = std::move(pairs).assembled();
  if (options.check_finite) check_finite(a, Subject{name, false, false, options.row_begin});
  return a;
}

struct WholeLines {
  index_t rows = 0, cols = 0;  ///< of the matrix in the file
  bool by_columns = false;
  std::vector<index_t> pointers, minor;
};

/// The rows that options choose. @param values one for each entry
/// @throws Error(bad_input) for lists that do not fit together, and as Pairs.
template <class T>
[[nodiscard]] CsrMatrix<T> assembled(const WholeLines& lines, const T* values, const Description& d,
                                     const ReadOptions& options);

/// Fills in the sizes and memory of a matrix of pairs. @throws Error(bad_input) for more rows or columns than sparse
/// matrices can have.
void set_lines(Description& d, index_t rows, index_t cols, index_t entries, const ReadOptions& options);

}  // namespace ts::inline v0::io
