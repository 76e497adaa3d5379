// SHA-256 (FIPS 180-4), by which cache entries are named and verified.
#pragma once

#include <string>
#include <string_view>

namespace ts::inline v0::cuda {

/// The digest as 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace ts::inline v0::cuda
