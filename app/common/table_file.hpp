// Tables of results in files for other programs, or as text on standard output.
#pragma once

#include <iostream>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/io/table_output.hpp"

namespace ts::app {

/// What an option names for standard output, and for standard input.
inline constexpr std::string_view standard_stream = "-";

/// An option for a table: a file in .npy or .csv, or - for text on standard output.
void add_table_option(Options& options, const std::string& name, std::string& target, std::string help);

/// Whether one of these tables goes to standard output, where then nothing else may go.
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
