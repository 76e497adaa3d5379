// Files of text that are whole or not there.
#pragma once

#include <filesystem>
#include <string_view>

namespace ts::app {

/// Writes `text` under a temporary name beside `file`, then renames. @throws Error(io_failure) naming `file`.
void write_text_file(const std::filesystem::path& file, std::string_view text);

}  // namespace ts::app
