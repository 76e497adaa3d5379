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
};

/// Reads a matrix and takes the labels out of it. `column` is empty (no labels), a column number (from -1 at
/// the end), or the name of an attribute of an arff file, whose nominal values become their positions in its
/// list.
/// @throws Error(invalid_argument) when there is no such column, Error(bad_input) when it holds no integers.
LabelledMatrix read_labelled(const io::Location& where, const io::ReadOptions& options,
                             const std::string& column);

}  // namespace ts::tsdata
