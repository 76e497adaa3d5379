// Reading variable-length strings safely; see the .cpp for why.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "tallskinny/io/file_bytes.hpp"
#include "tallskinny/io/hdf5/h5.hpp"

namespace ts::inline v0::io::hdf5 {

/// What the file holds instead of a variable-length string: length, address of a heap, number in it.
inline constexpr std::size_t reference_bytes = 16;
using Reference = std::array<unsigned char, reference_bytes>;

/// The memory type with which H5Aread and H5Dread deliver References.
[[nodiscard]] Handle registered_reference_type();

/// The string; nothing if the heap is damaged. `object` is any open object of the file.
[[nodiscard]] std::optional<std::string> text_behind(const Reference& reference, hid_t object, const FileBytes& file);

}  // namespace ts::inline v0::io::hdf5
