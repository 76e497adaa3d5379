// Which columns of a table are read.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

/// The column that `name` means, of `count`. @param names empty: columns have numbers only
/// @param option whose value this is, for sentences
/// @throws Error(invalid_argument) when there is none, or several.
[[nodiscard]] index_t find_column(const std::string& file, const std::vector<std::string>& names, index_t count,
                                  const std::string& name, const std::string& option);

/// For each column of a file whether it is read as a feature. @throws Error(invalid_argument) as find_column, or when
/// none is left.
[[nodiscard]] std::vector<char> chosen_columns(const std::string& file, const std::vector<std::string>& names,
                                               index_t count, const TableOptions& options);

/// What a dense matrix that is no text table becomes. @throws Error(invalid_argument) for a sparse one, and for options
/// of text.
void choose_columns(Description& d, const TableOptions& options);
void choose_columns(MatrixFile& file, const TableOptions& options);

}  // namespace ts::inline v0::io
