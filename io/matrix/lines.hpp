// Sparse matrices from compressed lines that were read as a whole.
#pragma once

#include <vector>

#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

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

/// What a description says of them. @throws Error(bad_input) for more rows or columns than sparse matrices can have.
void set_lines(Description& d, index_t rows, index_t cols, index_t entries, const ReadOptions& options);

}  // namespace ts::inline v0::io
