// Options of reading a matrix file, and standard input as a file that can be read repeatedly.
#pragma once

#include <string>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/ranks.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::app {

/// --format, --scalars, --transpose, --layout, --accept-unsorted, --missing-as-fill, --comment, --drop-index,
/// --keep-index and --trust-input
void add_read_options(Options& options, io::ReadOptions& target);
/// --columns, --drop, --missing, --decimal: of tables
void add_table_options(Options& options, io::ReadOptions& target);
/// "rows are barcodes (cells), columns are features", where the file says such a thing, or nothing.
[[nodiscard]] std::string axes_text(const io::Description& matrix);
/// Reports how missing values of a table were treated (--missing): as a line, "" without any, and as members of a
/// result.
[[nodiscard]] std::string missing_text(const io::Description& table);
void add_missing(JsonObject& json, const io::ReadOptions& read, const io::Description& table);
/// --memory BYTES, for programs whose only large memory is what they read
void add_reading_memory_option(Options& options, io::ReadOptions& target);
/// --rows A:B
void add_rows_option(Options& options, io::ReadOptions& target);

/// Standard input for an input named "-": copied into a file without a name, in the folder for temporary files, and
/// named in `input`. Standard input that is a file is not copied. Reading finds out its format.
class StandardInput {
 public:
  /// @throws Error(invalid_argument) for several ranks, of which one would get it, and for a terminal;
  /// Error(bad_input), Error(io_failure) naming standard input.
  StandardInput(std::string& input, const Ranks& ranks);
  ~StandardInput();
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace ts::app
