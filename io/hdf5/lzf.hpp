// LZF, the other compression of h5py and AnnData beside gzip.
#pragma once

#include <cstddef>
#include <span>

namespace ts::inline v0::io::hdf5 {

/// Expands `in` into `out`. Returns how many bytes that took; 0 for damaged ones, and for more than there is
/// room for.
[[nodiscard]] std::size_t expand_lzf(std::span<const char> in, std::span<char> out) noexcept;

}  // namespace ts::inline v0::io::hdf5
