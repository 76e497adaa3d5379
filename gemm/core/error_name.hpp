// The codes of errors by their names, for logs and other languages.
#pragma once

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0 {

/// As it is written in the enumeration: "invalid_argument".
[[nodiscard]] constexpr const char* to_string(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument: return "invalid_argument";
    case Errc::bad_input: return "bad_input";
    case Errc::io_failure: return "io_failure";
    case Errc::out_of_memory: return "out_of_memory";
    case Errc::out_of_range: return "out_of_range";
    case Errc::no_device: return "no_device";
    case Errc::device_failure: return "device_failure";
    case Errc::interrupted: return "interrupted";
  }
  return "unknown";
}

}  // namespace ts::inline v0
