// Text of messages about files: names from files made printable for a terminal, and refusals.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0::io {

/// The text with control characters, those that turn the direction of writing, and bytes that are no UTF-8 written as
/// \\xNN, so that it stays on its line and gives a terminal no orders.
[[nodiscard]] std::string printable(std::string_view text);

/// The names, of many the first ones and how many more there are.
[[nodiscard]] std::string listed(const std::vector<std::string>& names, const std::string& between = ", ");

/// Strings and numbers, one after the other.
template <class... Parts>
[[nodiscard]] std::string joined(const Parts&... parts) {
  std::string text;
  const auto add = [&text]<class Part>(const Part& part) {
    if constexpr (std::is_arithmetic_v<Part> && !std::is_same_v<Part, char>)
      text += std::to_string(part);
    else
      text += part;
  };
  (add(parts), ...);
  return text;
}

/// Throws Error(bad_input) "NAME CAUSE"; the name is that of a file, or of an object in it.
[[noreturn]] void refuse(const std::string& name, const std::string& cause, Place where = Place::current());

/// Makes messages name `name` in place of `path`, which means nothing to a user. Call before threads start.
void show_path_as(std::string path, std::string name);

}  // namespace ts::inline v0::io
