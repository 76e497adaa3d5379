// The file formats that are not HDF5, each with the same two calls.
#pragma once

#include <functional>

#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/parts.hpp"

namespace ts::inline v0::io {

/// Rows `rows` of a file into `out`, contiguous; with `finite` looks for NaN and Inf.
using ReadRows = std::function<void(RowRange rows, bool finite, void* out)>;

/// Matrix Market, plain or gzip-compressed.
[[nodiscard]] Description describe_matrix_market(const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_matrix_market(const Location& where, const ReadOptions& options);

/// Numbers separated by comma, semicolon, tab or blanks, plain or gzip-compressed, with or without a line of
/// names.
[[nodiscard]] Description describe_csv(const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_csv(const Location& where, const ReadOptions& options);

/// Weka's attribute-relation files: the numeric attributes make the columns.
[[nodiscard]] Description describe_arff(const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_arff(const Location& where, const ReadOptions& options);
/// One attribute; a nominal one as positions in its list.
[[nodiscard]] std::vector<double> read_arff_attribute(const std::filesystem::path& file, const std::string& name,
                                                      const ReadOptions& options);

/// NumPy's .npy.
[[nodiscard]] Description describe_npy(const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_npy(const Location& where, const ReadOptions& options);
/// Rows of one that is stored by rows.
[[nodiscard]] ReadRows npy_rows(const Location& where);

/// NumPy's .npz: an array of several, named as the object, or a matrix of scipy.sparse.save_npz.
[[nodiscard]] Description describe_npz(const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_npz(const Location& where, const ReadOptions& options);
[[nodiscard]] std::vector<Description> list_npz(const Location& where, const ReadOptions& options);
/// visit_objects for one, whose directory is read once.
void visit_npz(const Location& where, const ReadOptions& options, const LookAt& look);

/// MATLAB's files of versions 4 and 5, of which an object is a variable, or a field of a struct.
[[nodiscard]] Description describe_mat(const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_mat(const Location& where, const ReadOptions& options);
[[nodiscard]] std::vector<Description> list_mat(const Location& where, const ReadOptions& options);

/// PETSc's binary files, of which an object is named by its number from 0.
[[nodiscard]] Description describe_petsc(const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_petsc(const Location& where, const ReadOptions& options);
[[nodiscard]] std::vector<Description> list_petsc(const Location& where, const ReadOptions& options);

/// Shape, type and memory of a dense matrix read from one of these files as rows x cols, before --transpose.
void set_dense(Description& d, index_t rows, index_t cols, DType type, const ReadOptions& options);

/// Of the rows in such a file those that are read for what options choose: all where they become columns.
[[nodiscard]] RowRange rows_in_file(index_t rows, const ReadOptions& options);
/// Bytes of so many rows of the file, and of what they become.
[[nodiscard]] std::uint64_t bytes_of_rows(const Description& d, RowRange rows, const ReadOptions& options);

/// What all dense formats end with, once rows_in_file() are read: transpose, rows, finite values.
template <class T>
[[nodiscard]] DenseMatrix finished(Matrix<T> a, const ReadOptions& options, const std::string& name);

}  // namespace ts::inline v0::io
