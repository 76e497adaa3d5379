// A text table in which one column holds labels, numbers or words.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

struct LabelledTable {
  MatrixFile table;                 ///< without the column of labels
  std::vector<std::string> labels;  ///< as they stand in the file, one for each row of the table
};

/// Reads a csv file. `column` is a number (from -1 at the end) or a name in the first line. A first line
/// without any number holds names.
/// @throws Error(invalid_argument) when there is no such column; else as read_matrix.
[[nodiscard]] LabelledTable read_csv_with_labels(const Location& where, ReadOptions options, const std::string& column);

/// Labels as positions in a list of those that the file holds, in their order there.
struct NumberedLabels {
  std::vector<std::int32_t> numbers;  ///< of the rows that options choose
  std::vector<std::string> names;     ///< of the whole file
};

/// The column that options.table.labels names in a csv file, for rows as read_matrix reads them.
/// @throws as read_csv_with_labels.
[[nodiscard]] NumberedLabels read_csv_labels(const Location& where, const ReadOptions& options);

}  // namespace ts::inline v0::io
