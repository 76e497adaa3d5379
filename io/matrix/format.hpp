// Interface of file formats other than HDF5, and how options select a part of a matrix and its Description.
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
/// Shape and memory of a sparse matrix of these entries, which are read one by one.
/// @throws Error(bad_input) for more rows or columns than sparse matrices can have.
void set_sparse(Description& d, index_t rows, index_t cols, index_t entries, const ReadOptions& options);

/// The entry of list_objects() for an object that cannot be read.
[[nodiscard]] Description unreadable(Location where, std::string convention, std::string problem);

/// Rows of the file to read for the rows that options choose; all of them where rows become columns.
[[nodiscard]] RowRange rows_in_file(index_t rows, const ReadOptions& options);
/// Bytes of so many rows of the file, and of what they become.
[[nodiscard]] std::uint64_t bytes_of_rows(const Description& d, RowRange rows, const ReadOptions& options);

/// Last step of all dense formats, after reading rows_in_file(): transpose, take the rows, check that values are
/// finite.
template <class T>
[[nodiscard]] DenseMatrix finished(Matrix<T> a, const ReadOptions& options, const std::string& name);

struct Format {
  const char* name;  ///< for ReadOptions::format
  /// Recognises a file by its name, in lower case, or by its first bytes, with zeros behind its end.
  bool (*matches)(const std::string& name, std::string_view start);
  Description (*describe)(const Location&, const ReadOptions&);
  MatrixFile (*read)(const Location&, const ReadOptions&);
  /// list_objects, for a format with objects.
  std::vector<Description> (*list)(const Location&, const ReadOptions&) = nullptr;
  /// visit_objects, for a format that opens its file once.
  void (*visit)(const Location&, const ReadOptions&, const LookAt&) = nullptr;
  bool has_columns = false;  ///< chooses them itself, by TableOptions
};

/// True if a name ends in one of `endings`, or in one of them and .gz.
[[nodiscard]] bool has_ending(const std::string& name, std::initializer_list<const char*> endings);

/// All formats, each defined in its own file.
namespace formats {
extern const Format mtx;    ///< Matrix Market, plain or gzip-compressed
extern const Format npy;    ///< an array of NumPy
extern const Format npz;    ///< arrays of NumPy, named as the object, or a matrix of scipy.sparse.save_npz
extern const Format mat;    ///< MATLAB 4 and 5: an object is a variable, or a field of a struct
extern const Format petsc;  ///< PETSc's binary files: an object is named by its number from 0
extern const Format arff;   ///< Weka's attribute-relation files: the numeric attributes make the columns
extern const Format csv;    ///< numbers separated by comma, semicolon, tab or blanks, with or without a line of names
}  // namespace formats

/// One attribute of an arff file; a nominal one as positions in its list.
[[nodiscard]] std::vector<double> read_arff_attribute(const std::filesystem::path& file, const std::string& name,
                                                      const ReadOptions& options);

}  // namespace ts::inline v0::io
