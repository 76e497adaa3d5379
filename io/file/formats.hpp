// Recognises the format of a file. Known formats that are not read are refused, with the way to one that is.
#pragma once

#include <filesystem>

#include "tallskinny/io/matrix/format.hpp"

namespace ts::inline v0::io {

/// Tells HDF5 files from others: true for HDF5. @throws Error(bad_input) for a file that cannot be opened, or is empty.
[[nodiscard]] bool require_file(const std::filesystem::path& file);

/// The format of a file; nothing for HDF5.
/// @throws Error(bad_input) as require_file, for a file in no format that is read, and for an object where the format
/// has none; Error(invalid_argument) for an unknown ReadOptions::format.
[[nodiscard]] const Format* format_of(const Location& where, const ReadOptions& options);

/// io::describe and io::read_matrix with TableOptions::missing, for a dense matrix in a file that is no text. Rows that
/// can be read again and again are, so that no more memory is taken.
[[nodiscard]] Description describe_without_missing(const Location& where, const ReadOptions& options);
[[nodiscard]] MatrixFile read_without_missing(const Location& where, const ReadOptions& options);

}  // namespace ts::inline v0::io
