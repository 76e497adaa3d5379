// What is checked about output files before a long computation starts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ts::app {

/// A file that a run writes, and the option that names it; no path: not asked for.
struct OutputPath {
  const char* option;
  std::filesystem::path path;
  bool may_be_standard_output = false;  ///< as -
};

/// The ending of a name that promises another format than HDF5, like ".csv"; else nothing.
[[nodiscard]] std::string other_format(const std::filesystem::path& file);

/// An existing file may be replaced (the writers do so in one step, when the result is complete), but not one
/// that is being read, whatever name leads to it; and no file is written twice.
/// @param inputs FILE or FILE:/object, or words that are no files.
/// @throws Error(invalid_argument) naming the option when the folder is missing or not writable, the path is
/// a folder or another thing that is not a plain file, one of `inputs`, or another output.
void check_output_paths(const std::vector<OutputPath>& outputs, const std::vector<std::string>& inputs = {});

}  // namespace ts::app
