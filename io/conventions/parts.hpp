// Places of the parts of a matrix in an HDF5 file. A convention turns an object into parts; one reader turns any parts
// into a matrix, with every check.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "tallskinny/io/hdf5/node.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/io/matrix/format.hpp"

namespace ts::inline v0::io {

/// A list of numbers that becomes the elements of a matrix.
struct Elements {
  std::optional<hdf5::Node> dataset;  ///< nothing: every stored element is one
  std::string member;                 ///< of a compound dataset, "" if it is not one
  hdf5::ElementType type;             ///< as stored; complex also for interleaved reals
  bool interleaved = false;           ///< complex numbers stored as pairs of reals
  bool one_for_all = false;           ///< a single number stands for all
};

struct SparseParts {
  /// compressed: pointers and minor; compressed_nonempty: also `major`, the lines that have entries;
  /// pairs: major and minor, one of each for every entry.
  enum class Form { compressed, compressed_nonempty, pairs };
  Form form = Form::compressed;
  bool by_columns = false;  ///< major lines are columns
  index_t rows = 0, cols = 0;
  std::optional<hdf5::Node> pointers, major, minor;  ///< no minor in a vector: all zero
  Elements values;
  index_t index_base = 0;
  std::optional<index_t> announced_nonzeros;
  Structure structure = Structure::general;
  Triangle triangle = Triangle::none;
};

struct DenseParts {
  index_t rows = 0, cols = 0;
  bool transposed = false;  ///< the first dimension runs over columns
  bool flat = false;        ///< a one-dimensional dataset of rows * cols elements
  Elements values;
  Structure structure = Structure::general;
  Triangle triangle = Triangle::none;
};

struct Parts {
  std::string convention;
  std::string note;
  std::variant<SparseParts, DenseParts> content;
};

/// Describes the matrix that the parts make, from shapes and types alone. @throws Error(bad_input) for lists of wrong
/// lengths.
[[nodiscard]] Description describe_parts(const Parts& parts, const hdf5::Node& object, const ReadOptions& options);

[[nodiscard]] MatrixFile read_parts(const Parts& parts, const hdf5::Node& object, const ReadOptions& options);

/// True if only the rows that the options choose are kept of the matrix, and they are not all. Their memory is known
/// once pointers, or pairs, are read.
[[nodiscard]] bool reads_by_range(const SparseParts& parts, const Description& d, const ReadOptions& options);

// The two halves, each in its file.
[[nodiscard]] SparseMatrix read_sparse_parts(const SparseParts& parts, const Description& d, const std::string& name,
                                             const ReadOptions& options);
[[nodiscard]] DenseMatrix read_dense_parts(const DenseParts& parts, const Description& d, const std::string& name,
                                           const ReadOptions& options);
/// Rows of parts that are stored by rows and hold no triangle, contiguous, as elements of `type`; with
/// `finite` checked.
void read_dense_rows(const DenseParts& parts, DType type, RowRange range, const std::string& name, bool finite,
                     void* out);
/// Checks the lengths of all lists against each other and the shape; the number of stored entries.
[[nodiscard]] index_t check_sparse_lengths(const SparseParts& parts, const hdf5::Node& object);
void check_dense_lengths(const DenseParts& parts, const hdf5::Node& object);

}  // namespace ts::inline v0::io
