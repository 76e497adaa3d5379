// Matrices in files: what a file holds, and reading it. HDF5 in every convention of io/README.md, Matrix
// Market, npy, csv and arff come through the same three calls.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::inline v0::io {

/// A file and, for HDF5, the object in it: "" lets the file decide (its only matrix).
struct Location {
  std::filesystem::path file;
  std::string object;

  /// "file" or "file:/object", as parse_location reads it, but printable.
  [[nodiscard]] std::string text() const;
};

/// Reads "file.h5:/path" and "file.mtx". An existing file wins over a colon in its name.
[[nodiscard]] Location parse_location(std::string_view text);

/// Structure of a square matrix, as its file declares it. Triangles are expanded on reading.
enum class Structure { general, symmetric, hermitian, skew_symmetric };

[[nodiscard]] std::string_view name_of(Structure s) noexcept;

/// Compressed rows or compressed columns, for files that do not say which.
enum class SparseLayout { csr, csc };

/// Treatment of rows of a table or dense matrix that lack a value: NaN and, in text, empty fields, NA, null and the
/// like.
enum class Missing { refuse, drop, mean };

/// Columns of a table to read, and how. A column is a name of the first line or a number from 0, from -1 at the
/// end; 3-7 are five of them. Columns keep their order. In matrices that are no text, columns have numbers only.
struct TableOptions {
  std::vector<std::string> columns = {};  ///< that are read; none: all
  std::vector<std::string> drop = {};     ///< that are not
  std::string labels = {};                ///< one that holds no feature; empty: none
  Missing missing = Missing::refuse;
  bool decimal_comma = false;  ///< 1,5 is a number, and columns are separated by semicolons, tabs or blanks

  [[nodiscard]] bool selects() const noexcept { return !columns.empty() || !drop.empty() || !labels.empty(); }
};

struct ReadOptions {
  std::optional<SparseLayout> layout;  ///< decides where a file leaves it open (a square SciPy dump)
  /// Format of the file, one of format_names(); empty: found by name and first bytes. HDF5 is recognised in any case.
  std::string format;
  std::optional<DType> scalars;    ///< elements of a PETSc file; nothing: what fits its length
  bool transpose = false;          ///< read the transposed matrix
  bool accept_unsorted = false;    ///< sort unsorted column numbers, add up duplicates; else refuse
  index_t row_begin = 0;           ///< first row to read (of the transposed matrix, if transposed)
  index_t row_end = -1;            ///< one past the last row to read; -1: to the end
  std::uint64_t memory_limit = 0;  ///< bytes that reading may take; 0: what the machine has free
  /// csv: lines that begin with this are comments; "" none are; nothing: those with # before the first other line.
  std::optional<std::string> comment;
  bool drop_index = false;       ///< csv: leave out the first column, which has no name
  bool keep_index = false;       ///< csv: read such a column also if it counts the rows; else refuse
  bool trusted = false;          ///< HDF5 opens the file in this process, and follows it into other files
  bool missing_as_fill = false;  ///< rows without data are read as the file's fill value; else refuse
  bool check_finite = true;      ///< refuse NaN and Inf, naming the first row and column
  TableOptions table;            ///< of columns
  bool as_stored = false;        ///< lines as Description::stored_triangle and stored_by_columns say

  /// The options that hold for any file, without those of one matrix; used for files beside it.
  [[nodiscard]] ReadOptions of_another_file() const {
    ReadOptions options;
    options.memory_limit = memory_limit, options.trusted = trusted, options.missing_as_fill = missing_as_fill;
    return options;
  }
};

/// Content of a file, found without reading its elements (text files: without keeping them).
struct Description {
  Location where;               ///< with the object that was chosen
  std::string convention;       ///< "Binsparse", "AnnData", "MATLAB", "Matrix Market", ...
  bool sparse = false;          ///< read as a SparseMatrix
  std::string stored_type;      ///< the element type in the file, "big-endian int16", "complex of float64", ...
  DType type = DType::float64;  ///< the element type it is read as
  index_t rows = 0, cols = 0;   ///< of the whole matrix, after --transpose
  index_t nonzeros = 0;         ///< stored entries; rows * cols when dense
  Structure declared = Structure::general;
  /// Compressed lines hold a triangle: with ReadOptions::as_stored rows come without their mirror images.
  bool stored_triangle = false;
  /// A square matrix in compressed columns: with ReadOptions::as_stored rows of the transposed matrix come.
  bool stored_by_columns = false;
  std::uint64_t bytes = 0;                ///< memory that the matrix will take once read (an upper bound for triangles)
  std::uint64_t peak_bytes = 0;           ///< memory needed while reading it, the matrix included
  index_t chunk_rows = 0;                 ///< rows of a chunk of a dense HDF5 dataset stored by rows; 0: not in chunks
  std::vector<std::string> column_names;  ///< of the columns that are read, where a text table has them
  index_t rows_dropped = 0, values_filled = 0;  ///< in all of a file, by TableOptions::missing
  std::string note;     ///< what a reader should know, or empty: "flattened from 60000 x 28 x 28"
  std::string problem;  ///< in list_objects: why this object cannot be read as it is, or empty
};

/// Integers are read as double, 16-bit floats as float.
using SparseMatrix =
    std::variant<CsrMatrix<double>, CsrMatrix<std::complex<double>>, CsrMatrix<float>, CsrMatrix<std::complex<float>>>;
/// Row-major. Integers are read as double, 16-bit floats stay what they are.
using DenseMatrix = std::variant<Matrix<double>, Matrix<std::complex<double>>, Matrix<float>,
                                 Matrix<std::complex<float>>, Matrix<float16>, Matrix<bfloat16>>;

struct MatrixFile {
  Description description;
  std::variant<SparseMatrix, DenseMatrix> matrix;
};

/// A text attribute of the root of an HDF5 file; nothing where it has none of this name, or is no HDF5 file.
/// @throws Error(bad_input) for a file that cannot be read.
[[nodiscard]] std::optional<std::string> file_attribute(const std::filesystem::path& file, const std::string& name,
                                                        const ReadOptions& options = {});

/// For ReadOptions::format: csv, mtx, npy, ...
[[nodiscard]] std::vector<std::string> format_names();

/// Describes the matrix at `where` without reading its elements.
/// @throws Error(bad_input) for a file, object or layout that cannot be read, in one sentence.
[[nodiscard]] Description describe(const Location& where, const ReadOptions& options = {});

/// Every matrix in a file, in the order of their names; unreadable ones carry their `problem`.
/// @throws Error(bad_input) for a missing file or an unknown format.
[[nodiscard]] std::vector<Description> list_objects(const std::filesystem::path& file, const ReadOptions& options = {});

/// Visits every matrix in a file, in the order of list_objects, while the file is opened once. `read` reads the visited
/// matrix as read_matrix does.
using LookAt = std::function<void(const Description&, const std::function<MatrixFile(const ReadOptions&)>& read)>;
void visit_objects(const std::filesystem::path& file, const ReadOptions& options, const LookAt& look);

/// The matrix at `where`, checked: pointers, indices, finite values, declared symmetry.
/// @throws Error(bad_input) naming file, object and cause; Error(out_of_memory) before allocating what
/// the machine (or options.memory_limit) does not have.
[[nodiscard]] MatrixFile read_matrix(const Location& where, const ReadOptions& options = {});

/// Reads a dense matrix. @throws as read_matrix, and Error(bad_input) for a sparse one.
[[nodiscard]] DenseMatrix read_dense(const Location& where, const ReadOptions& options = {});

/// A dense matrix converted to T = double, float or their complex types; complex data does not become real.
template <class T>
[[nodiscard]] Matrix<T> read_dense_as(const Location& where, const ReadOptions& options = {});

/// A vector of real numbers: a one-dimensional dataset, or a matrix with one row or one column (weights,
/// eigenvalues, labels). In an arff file the object names an attribute; a nominal one gives the position of
/// each value in its list. Of the options memory_limit, trusted and missing_as_fill count.
/// @throws Error(bad_input), also for NaN and Inf.
[[nodiscard]] std::vector<double> read_vector(const Location& where, const ReadOptions& options = {});

/// Some elements of a vector, and how many there are in all.
struct VectorPart {
  std::vector<double> values;
  index_t size = 0;
};
/// Elements begin .. end - 1, as far as there are so many; of a list or a column in HDF5 no more is read.
/// @throws Error(bad_input) as read_vector.
[[nodiscard]] VectorPart read_vector_part(const Location& where, index_t begin, index_t end,
                                          const ReadOptions& options = {});

}  // namespace ts::inline v0::io
