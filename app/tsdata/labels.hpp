// A table whose rows carry a label.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tallskinny/io/matrix_file.hpp"

namespace ts::tsdata {

struct LabelledMatrix {
  io::MatrixFile matrix;
  std::vector<std::int64_t> labels;  ///< one per row; empty when no column was named
  std::vector<std::string> names;    ///< label i stands for the word names[i]; empty when labels were numbers
};

/// Reads a matrix and takes the labels out of it. `column` is empty (no labels), a column number (from -1 at
/// the end), or a name in the first line of a csv file or among the attributes of an arff file. Words become
/// numbers: in a csv file their positions in alphabetical order, in an arff file those in the attribute's
/// list.
/// @throws Error(invalid_argument) when there is no such column, Error(bad_input) when it holds no integers.
LabelledMatrix read_labelled(const io::Location& where, const io::ReadOptions& options, const std::string& column);

}  // namespace ts::tsdata
