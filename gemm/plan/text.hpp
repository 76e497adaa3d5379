// Figures of plans as people read them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "tallskinny/gemm/core/problem.hpp"

namespace ts::inline v0 {

/// As printf has it.
template <class... Args>
[[nodiscard]] std::string format(const char* pattern, Args... args) {
  const int length = std::snprintf(nullptr, 0, pattern, args...);
  std::string text(static_cast<std::size_t>(length), '\0');
  std::snprintf(text.data(), text.size() + 1, pattern, args...);
  return text;
}

/// Amounts as plans print them.
[[nodiscard]] std::string bytes_text(double bytes);
/// "512 B", "1.50 KiB", "12.3 GiB".
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);
[[nodiscard]] std::string flops_text(double flops);
[[nodiscard]] std::string time_text(double seconds);
[[nodiscard]] std::string shape_text(const Problem&);

}  // namespace ts::inline v0
