// Arrays in NumPy's format, in a file of their own (.npy) or in an archive of several (.npz).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tallskinny/io/matrix/format.hpp"

namespace ts::inline v0::io {

/// Source of the bytes of an array, header and all.
struct NpyBytes {
  std::string name;        ///< for messages
  std::uint64_t size = 0;  ///< how many there are
  /// All of `out` from `offset` on; any number of threads at a time. @throws Error(bad_input).
  std::function<void(std::uint64_t offset, std::span<std::byte> out)> read;
};
/// The bytes of a file. @throws Error(bad_input) for one that cannot be opened.
[[nodiscard]] NpyBytes npy_bytes(const std::filesystem::path& file);

struct NpyHeader {
  char kind = 'f';  ///< f, c, i, u, b; V is unnamed_dtype
  index_t bytes = 8;
  bool swapped = false;  ///< big-endian
  bool by_columns = false;
  index_t rows = 0, cols = 0;  ///< of what it is read as
  std::vector<index_t> shape;  ///< in the order of the file
  std::uint64_t start = 0;     ///< of the elements
  std::string stored_type;
  std::string note;
};
/// @throws Error(bad_input) for bytes that are no array of numbers, or are truncated.
[[nodiscard]] NpyHeader parse_npy_header(const NpyBytes& npy);
/// The text of the header's dictionary, and the offset of the elements.
[[nodiscard]] std::pair<std::string, std::uint64_t> npy_header_text(const NpyBytes& npy);

/// @param where what descriptions say of its place.
[[nodiscard]] Description describe_npy(const NpyBytes& npy, const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_npy(const NpyBytes& npy, const Location& where, const ReadOptions& options);
/// Describes and reads an array within a file of another format. `header` says where its elements lie, inside the file.
[[nodiscard]] Description describe_array(const NpyHeader& header, const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_array(const NpyBytes& bytes, NpyHeader header, const Location& where,
                                    const ReadOptions& options);
/// Rows of a file that is stored by rows.
[[nodiscard]] ReadRows npy_rows(const Location& where);

}  // namespace ts::inline v0::io
