// Files in formats that people have and that are not read: what they are, and the way to one that is.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace ts::inline v0::io {

/// Bytes at the beginning of a file that show its format, zeros behind its end.
inline constexpr std::size_t bytes_of_start = 64;

/// @throws Error(bad_input) for a folder that is a Zarr store.
void refuse_zarr(const std::filesystem::path& folder);

/// @throws Error(bad_input) for a file whose first bytes, or whose name, show a compressed file other than gzip, a
/// spreadsheet, Parquet or Arrow.
void refuse_unread(const std::filesystem::path& file, std::string_view start);

/// To be called for a file that nothing recognised. @throws Error(bad_input) for gzip and svmlight.
void refuse_unknown(const std::filesystem::path& file, std::string_view start);

/// @throws Error(bad_input) where the words of a line are a label, and pairs like 3:0.5 of a column and a number.
void refuse_svmlight(const std::filesystem::path& file, const std::vector<std::string_view>& words);

}  // namespace ts::inline v0::io
