// Variables in MATLAB files of versions 4 and 5, which libmatio reads in a process without rights.
#pragma once

#include <tuple>

#include "tallskinny/io/binary/npy.hpp"

namespace ts::inline v0::io {

/// A matrix of numbers in such a file.
struct MatVariable {
  std::string path;  ///< "A", or "Problem/A" for a field of a struct
  bool sparse = false, complex = false, single = false;
  index_t rows = 0, cols = 0, entries = 0;
  std::string stored_type;  ///< "int16", "complex double", "logical"
  std::string problem;      ///< why it cannot be read, or empty
  /// Offsets of its lists in the data read: pointers and row numbers of a sparse matrix (int64), and values as double
  /// or float, complex ones interleaved, by columns.
  std::uint64_t pointers = 0, minor = 0, values = 0;
};
inline auto members_of(MatVariable& x) {
  return std::tie(x.path, x.sparse, x.complex, x.single, x.rows, x.cols, x.entries, x.stored_type, x.problem,
                  x.pointers, x.minor, x.values);
}

/// All matrices in a file, without what they hold.
/// @throws Error(bad_input) for a damaged file, and where there is no libmatio.
[[nodiscard]] std::vector<MatVariable> list_mat(const std::filesystem::path& file, const ReadOptions& options);

/// One of them, and its lists.
struct MatContent {
  MatVariable variable;
  NpyBytes bytes;
};
[[nodiscard]] MatContent read_mat(const std::filesystem::path& file, const std::string& path,
                                  const ReadOptions& options);

}  // namespace ts::inline v0::io
