// Tables in text: their rows, fields and columns.
#pragma once

#include <string>
#include <vector>

#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/text/line_reader.hpp"

namespace ts::inline v0::io {

/// The lines of a table that hold fields: neither blank nor a comment, nor Excel's first line that names a separator.
class CsvRows {
 public:
  /// @throws Error as LineReader.
  CsvRows(const std::filesystem::path& file, const ReadOptions& options)
      : lines(file, options.memory_limit), comment_(options.comment) {}

  /// The next row; nothing at the end. Valid until the next call. @throws Error as LineReader::next.
  [[nodiscard]] std::optional<std::string_view> next();

  LineReader lines;
  std::optional<char> separator;  ///< that a line "sep=;" names
  index_t comments = 0;           ///< lines that were passed over

 private:
  [[nodiscard]] bool is_comment(std::string_view text) const;

  std::optional<std::string> comment_;
  bool begun_ = false;  ///< with a row: the names, or the first numbers
};

/// The separator of a line; ' ' stands for any run of blanks.
[[nodiscard]] char find_separator(std::string_view line, bool decimal_comma);

/// Cuts the next field off `rest`; false when there is none. Quotes may enclose a field. `more` is true at first.
[[nodiscard]] bool next_field(std::string_view& rest, bool& more, char separator, std::string_view& field);

/// All fields of a line.
[[nodiscard]] std::vector<std::string_view> fields_of(std::string_view line, char separator);

/// A field as a number; with decimal_comma 1,5 is one.
[[nodiscard]] std::optional<double> number_in(std::string_view field, bool decimal_comma);

/// A field that says that there is no value, as R, pandas and spreadsheets write it.
[[nodiscard]] bool is_missing(std::string_view field);

/// The name of a file, to repeat it in a command; a pipe has none.
[[nodiscard]] std::string name_for_commands(const std::filesystem::path& file);

/// @throws Error(bad_input) where the words of a line are a label, and pairs like 3:0.5 of a column and a number.
void refuse_svmlight(const std::filesystem::path& file, const std::vector<std::string_view>& words);

/// The column that `name` means, of `count`. @param names empty: columns have numbers only
/// @param option whose value this is, for sentences
/// @throws Error(invalid_argument) when there is none, or several.
[[nodiscard]] index_t find_column(const std::string& file, const std::vector<std::string>& names, index_t count,
                                  const std::string& name, const std::string& option);

/// For each column of a file whether it is read as a feature. @throws Error(invalid_argument) as find_column, or when
/// none is left.
[[nodiscard]] std::vector<char> chosen_columns(const std::string& file, const std::vector<std::string>& names,
                                               index_t count, const TableOptions& options);

/// Applies the choice of columns to a dense matrix that is no text table. @throws Error(invalid_argument) for a sparse
/// one, and for options of text.
void choose_columns(Description& d, const TableOptions& options);
void choose_columns(MatrixFile& file, const TableOptions& options);

}  // namespace ts::inline v0::io
