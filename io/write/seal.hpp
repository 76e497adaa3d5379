// The user block of a file with a signature: what the file is, its length and its checksum.
#pragma once

#include <string_view>

#include "tallskinny/io/write/new_file.hpp"

namespace ts::inline v0::io {

inline constexpr std::size_t seal_bytes = 512;

/// Writes the block before what the finished file holds. @throws Error(io_failure).
void seal(const NewFile& file, std::string_view signature);

}  // namespace ts::inline v0::io
