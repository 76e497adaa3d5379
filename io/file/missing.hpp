// Values that dense matrices lack, which are NaN there: of files that are no text (of text: csv.cpp).
#pragma once

#include <functional>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/io/matrix/description.hpp"

namespace ts::inline v0::io {

/// Which rows lack values and what stands for these, once all rows passed by.
class MissingValues {
 public:
  /// Reads rows of a file, contiguous, without a check, to a buffer of the type of its elements.
  using Read = std::function<void(RowRange rows, void* out)>;

  /// Reads all rows of what is described, piece by piece.
  /// @throws Error(bad_input) for a column that has no value; Error(invalid_argument) for complex numbers.
  MissingValues(const Description& all, Missing how, const Read& read);

  /// Tells them, and how many rows are left, to the description of all rows.
  void describe(Description& d) const;
  /// Rows of what is left, counted there.
  void read(RowRange rows, const Read& read, void* out) const;

 private:
  /// Its number in the file.
  [[nodiscard]] index_t row_in_file(index_t row) const;

  Missing how_;
  DType type_;
  index_t cols_, rows_of_piece_;
  std::vector<index_t> dropped_;  ///< rows of the file, in order
  std::vector<double> means_;     ///< of columns
  index_t filled_ = 0;
};

/// io::describe and io::read_matrix with TableOptions::missing, for a dense matrix in a file that is no text. Rows that
/// can be read again and again are, so that no more memory is taken.
[[nodiscard]] Description describe_without_missing(const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_without_missing(const Location& where, const ReadOptions& options);

/// The options for all rows, whatever they lack.
[[nodiscard]] ReadOptions with_missing(ReadOptions options);

}  // namespace ts::inline v0::io
