// Where the parts of a matrix lie in an HDF5 file. A convention turns an object into parts; one reader
// (read_parts.hpp) turns any parts into a matrix, with every check.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "tallskinny/io/hdf5/node.hpp"
#include "tallskinny/io/matrix/assembly.hpp"

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
  std::variant<SparseParts, DenseParts> body;
};

}  // namespace ts::inline v0::io
