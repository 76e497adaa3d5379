// Output files of programs: checks before a long computation starts, tables, text.
#pragma once

#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/io/table_output.hpp"

namespace ts::app {

/// A file that a run writes, and the option that names it; an empty path: no such file.
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

/// Writes `text` under a temporary name in the same folder, then renames. @throws Error(io_failure) naming `file`.
void write_text_file(const std::filesystem::path& file, std::string_view text);

/// The argument that stands for standard output, and for standard input.
inline constexpr std::string_view standard_stream = "-";

/// An option for a table: a file in .npy or .csv, or - for text on standard output.
void add_table_option(Options& options, const std::string& name, std::string& target, std::string help);

/// True if one of these tables goes to standard output, where nothing else may be printed then.
/// @throws Error(invalid_argument) for --json beside it.
[[nodiscard]] bool takes_standard_output(std::initializer_list<std::string_view> tables, bool json);

/// A table for what such an option named. @param cols, names as TableOutput takes them
template <class T>
[[nodiscard]] io::TableOutput<T> open_table(const std::string& file, index_t rows, index_t cols,
                                            std::vector<std::string> names) {
  if (file == standard_stream) return {std::cout, rows, cols, std::move(names)};
  return {file, rows, cols, std::move(names)};
}

}  // namespace ts::app
