// Names that come from files, for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace ts::inline v0::io {

/// The text with control characters, and bytes that are no UTF-8, written as \\xNN, so that it stays on its
/// line and gives a terminal no orders.
[[nodiscard]] std::string printable(std::string_view text);

/// From here on such a text says `name` where `path` stands, which means nothing to a user: before there are threads.
void show_path_as(std::string path, std::string name);

}  // namespace ts::inline v0::io
