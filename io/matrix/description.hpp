// What options choose of a matrix, and what a Description says of it: shapes, rows and memory.
#pragma once

#include <functional>
#include <string>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

/// Rows begin .. end - 1.
struct RowRange {
  index_t begin = 0, end = 0;
  [[nodiscard]] index_t count() const noexcept { return end - begin; }
};

/// The rows that options choose of a matrix with this many. @throws Error(invalid_argument).
[[nodiscard]] RowRange row_range(index_t rows, const ReadOptions& options);

/// Rows `rows` of a file into `out`, contiguous; with `finite` looks for NaN and Inf.
using ReadRows = std::function<void(RowRange rows, bool finite, void* out)>;

/// Fills bytes and peak_bytes of a sparse matrix that is read by rows, or turned, mirrored or sorted first.
void set_sparse_bytes(Description& d, bool mirrored, bool turned, bool from_pairs);

/// Shape, type and memory of a dense matrix read from a file that is not HDF5 as rows x cols, before --transpose.
void set_dense(Description& d, index_t rows, index_t cols, DType type, const ReadOptions& options);

/// Of the rows in such a file those that are read for what options choose: all where they become columns.
[[nodiscard]] RowRange rows_in_file(index_t rows, const ReadOptions& options);
/// Bytes of so many rows of the file, and of what they become.
[[nodiscard]] std::uint64_t bytes_of_rows(const Description& d, RowRange rows, const ReadOptions& options);

/// What all dense formats end with, once rows_in_file() are read: transpose, rows, finite values.
template <class T>
[[nodiscard]] DenseMatrix finished(Matrix<T> a, const ReadOptions& options, const std::string& name);

}  // namespace ts::inline v0::io
