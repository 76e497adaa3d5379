// Known labels: a column of a text table, numbers or words, or a vector beside the matrix in a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tallskinny/io/matrix_file.hpp"

namespace ts::inline v0::io {

struct LabelledTable {
  MatrixFile table;                 ///< without the column of labels
  std::vector<std::string> labels;  ///< as in the file, one for each row of the table
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

/// The vector that options.table.labels names: an attribute of arff, or of HDF5 an object (/obs/NAME, or NAME of an
/// h5ad file), of whose categories the codes are meant. Nothing where it names a column. Where that is no column of
/// the matrix, options.table.labels becomes empty.
/// @throws Error(bad_input) for an object that is not there or holds no labels.
[[nodiscard]] std::optional<Location> labels_beside(const Location& where, ReadOptions& options);
/// Reads labels from a vector beside the matrix, for the rows that read_matrix reads.
/// @throws Error(bad_input), also where rows are left out.
[[nodiscard]] NumberedLabels read_labels_beside(const Location& labels, const Description& matrix,
                                                const ReadOptions& options);

}  // namespace ts::inline v0::io
