// Checks of HTML pages: how often a text occurs in them, and that they are well-formed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ts::test {

inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Every tag is closed by its own.
inline bool tags_are_balanced(std::string_view text) {
  std::vector<std::string_view> open;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string_view::npos) return false;
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    if (tag.empty()) return false;
    if (tag.front() == '!' || tag.back() == '/') continue;
    if (tag.front() != '/') {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    } else {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

}  // namespace ts::test
