#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

std::string hidden_path, shown_name;

/// Bytes of the character that the text begins with; 0 if it is none that may be printed.
std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first >= 0xf5 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return first == 0xc2 && byte(1) < 0xa0 ? 0 : length;  // the second set of control characters
}

}  // namespace

void show_path_as(std::string path, std::string name) { hidden_path = std::move(path), shown_name = std::move(name); }

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown, named;
  if (const auto at = hidden_path.empty() ? std::string_view::npos : text.find(hidden_path);
      at != std::string_view::npos) {
    named.append(text.substr(0, at)).append(shown_name).append(text.substr(at + hidden_path.size()));
    text = named;
  }
  while (!text.empty()) {
    const std::size_t bytes = printable_bytes(text);
    if (bytes > 0) {
      shown += text.substr(0, bytes);
    } else {
      const auto byte = static_cast<unsigned char>(text.front());
      shown.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return shown;
}

}  // namespace ts::inline v0::io
