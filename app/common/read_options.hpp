// The options that say how a matrix file is to be read.
#pragma once

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::app {

/// --transpose, --layout, --accept-unsorted, --missing-as-fill, --drop-index, --keep-index, --trust-input
void add_read_options(Options& options, io::ReadOptions& target);
/// --memory BYTES, for programs whose only large memory is what they read
void add_reading_memory_option(Options& options, io::ReadOptions& target);
/// --rows A:B
void add_rows_option(Options& options, io::ReadOptions& target);

}  // namespace ts::app
