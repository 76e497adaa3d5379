#include "tallskinny/io/printable.hpp"

#include <cstdint>

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
  std::uint32_t point = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3fu);
  }
  const auto within = [point](std::uint32_t from, std::uint32_t to) { return point >= from && point <= to; };
  const bool unshown = within(0x80, 0x9f)                                   // the second set of control characters
                       || point == 0x61c || within(0x200e, 0x200f)          // marks of direction
                       || within(0x2028, 0x202e) || within(0x2066, 0x2069)  // line ends; orders of direction
                       || within(0xd800, 0xdfff) || within(0x110000, ~0u)   // no characters
                       || (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  return unshown ? 0 : length;
}

constexpr std::size_t most_listed = 20;

}  // namespace

std::string listed(const std::vector<std::string>& names, const std::string& between) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most_listed; ++i) text += (i == 0 ? "" : between) + names[i];
  return names.size() > most_listed ? text + between + "and " + std::to_string(names.size() - most_listed) + " more"
                                    : text;
}

void refuse(const std::string& name, const std::string& cause, Place where) {
  throw Error(Errc::bad_input, name + " " + cause, where);
}

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
