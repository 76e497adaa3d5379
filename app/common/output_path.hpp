// What is checked about output files before a long computation starts.
#pragma once

#include <filesystem>
#include <vector>

namespace ts::app {

/// An existing file may be replaced (the writers do so in one step, when the result is complete), but not one
/// that is being read, whatever name leads to it.
/// @throws Error(invalid_argument) naming `option` when the folder is missing or not writable, `path` is a
/// folder or another thing that is not a plain file, or one of `inputs`.
void check_output_path(const char* option, const std::filesystem::path& path,
                       const std::vector<std::filesystem::path>& inputs = {});

}  // namespace ts::app
