// Rows of a dense matrix in an HDF5 or .npy file, again and again, into memory of the caller.
#pragma once

#include <memory>

#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

class RowReader {
 public:
  /// True if a matrix can be read row by row: dense, in HDF5 or .npy, stored by rows, as one list of elements.
  [[nodiscard]] static bool reads(const Description& matrix, const ReadOptions& options);

  /// Opens the file, which must be one that reads() accepts. @throws Error(bad_input) as read_matrix.
  RowReader(const Location& where, const ReadOptions& options);
  ~RowReader();

  /// rows: those that the options choose.
  [[nodiscard]] const Description& description() const noexcept;
  /// Rows first .. first + count - 1 of those, contiguous, as description().type; several threads read what
  /// HDF5 need not convert, and .npy. One call at a time.
  /// @throws Error(bad_input) for what cannot be read, for a file that was changed in place since it was opened and,
  /// with `finite`, for the first NaN or Inf.
  void read(index_t first, index_t count, bool finite, void* out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ts::inline v0::io
