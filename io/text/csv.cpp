// Tables of numbers in text: the separator is found in the first line, a first line without any number holds
// names, lines that start with # are comments.
#include <algorithm>

#include "tallskinny/io/formats.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/text/labelled_table.hpp"
#include "tallskinny/io/text/line_reader.hpp"

namespace ts::io {

namespace {

struct CsvTable {
  char separator = ' ';  ///< ' ' stands for any run of blanks
  bool names = false;    ///< the first line holds names
  index_t rows = 0, cols = 0;
  bool unnamed = false;  ///< but none for the first column
  bool index = false;    ///< which counts the rows, from 0 or 1
  bool dropped = false;  ///< that column is not read
  [[nodiscard]] index_t numbers() const noexcept { return cols - (dropped ? 1 : 0); }
};

std::optional<std::string_view> next_row(LineReader& in) {
  while (auto line = in.next()) {
    if (in.number() == 1 && line->starts_with("\xef\xbb\xbf")) line->remove_prefix(3);  // byte order mark
    if (const auto text = trimmed(*line); !text.empty() && text.front() != '#') return *line;
  }
  return std::nullopt;
}

/// Cuts the next field off `rest`; false when there is none. Quotes may enclose a field.
bool next_field(std::string_view& rest, bool& more, char separator, std::string_view& field) {
  if (separator == ' ') {
    field = next_word(rest);
    return !field.empty();
  }
  if (!more) return false;
  std::size_t from = 0;
  if (const auto text = trimmed(rest); text.starts_with('"')) {
    const auto open = rest.find('"');
    const auto close = rest.find('"', open + 1);
    from = close == std::string_view::npos ? rest.size() : close;
  }
  const auto end = rest.find(separator, from);
  more = end != std::string_view::npos;
  field = trimmed(rest.substr(0, end));
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = trimmed(field.substr(1, field.size() - 2));
  rest.remove_prefix(more ? end + 1 : rest.size());
  return true;
}

char find_separator(std::string_view line) {
  for (const char candidate : {';', '\t', ','}) {
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == candidate && !quoted && (candidate != '\t' || trimmed(line).find('\t') != std::string_view::npos))
        return candidate;
    }
  }
  return ' ';
}

index_t count_fields(std::string_view line, char separator, bool* any_number = nullptr) {
  index_t count = 0;
  bool more = true;
  for (std::string_view field; next_field(line, more, separator, field); ++count)
    if (any_number != nullptr) *any_number |= to_number(field).has_value();
  return count;
}

/// The first field of a line.
std::string_view first_field(std::string_view line, char separator) {
  std::string_view field;
  bool more = true;
  (void)next_field(line, more, separator, field);
  return field;
}

CsvTable survey_csv(const std::filesystem::path& file, const ReadOptions& options) {
  LineReader in(file, options.memory_limit);
  CsvTable t;
  const auto first = next_row(in);
  if (!first) throw Error(Errc::bad_input, file.string() + " holds no numbers");
  t.separator = find_separator(*first);
  bool any_number = false;
  t.cols = count_fields(*first, t.separator, &any_number);
  t.names = !any_number;
  const std::string_view name = first_field(*first, t.separator);
  t.unnamed = t.names && t.cols > 1 && (name.empty() || name == "Unnamed: 0");
  t.rows = t.names ? 0 : 1;
  t.index = t.unnamed;
  double start = 0;
  while (const auto line = next_row(in)) {
    if (t.index) {
      const auto number = to_number(first_field(*line, t.separator));
      if (t.rows == 0) start = number.value_or(-1);
      t.index = (start == 0 || start == 1) && number == start + static_cast<double>(t.rows);
    }
    ++t.rows;
  }
  if (t.rows == 0) throw Error(Errc::bad_input, file.string() + " line 1: holds no number, and no line follows");
  return t;
}

/// What is read of the table. Only a first column without a name may be left out.
CsvTable surveyed(const Location& where, const ReadOptions& options) {
  CsvTable t = survey_csv(where.file, options);
  if (options.drop_index && options.keep_index)
    throw Error(Errc::invalid_argument, "--drop-index and --keep-index exclude each other: give one of them");
  if (options.drop_index && !t.unnamed)
    throw Error(Errc::invalid_argument, "--drop-index: the first column of " + where.file.string() +
                                            " has a name, or is the only one, so that it is no index");
  t.dropped = options.drop_index;
  return t;
}

/// An index is no feature: whether it is wanted must be said.
void refuse_index(const CsvTable& t, const Location& where, const ReadOptions& options) {
  if (t.index && !options.drop_index && !options.keep_index)
    throw Error(Errc::bad_input, where.file.string() +
                                     ": the first column has no name and counts the rows, like the index that "
                                     "pandas writes; --drop-index leaves it out, --keep-index reads it as numbers");
}

Description description_of(const CsvTable& t, index_t cols, const Location& where, const ReadOptions& options) {
  Description d;
  d.where = {where.file, ""};
  d.convention = "CSV";
  d.stored_type = "text";
  set_dense(d, t.rows, cols, DType::float64, options);
  if (t.names) d.note = "the first line holds names";
  if (t.unnamed)
    d.note += t.dropped ? "; the first column, which has none, is left out"
                        : ", but none for the first column: if it is an index, --drop-index leaves it out";
  return d;
}

/// Writes the numbers of one line to `out`. The field of column `label_column`, if there is one, goes to
/// `label` instead.
void parse_row(const LineReader& in, std::string_view rest, const CsvTable& t, double* out, index_t label_column = -1,
               std::string* label = nullptr) {
  bool more = true;
  index_t j = 0;
  for (std::string_view field; next_field(rest, more, t.separator, field); ++j) {
    if (j >= t.cols || (j == 0 && t.dropped)) continue;
    if (j == label_column) {
      if (field.empty()) in.refuse("field " + std::to_string(j + 1) + ", the label, is empty");
      *label = field;
      continue;
    }
    const auto value = to_number(field);
    if (!value)
      in.refuse("field " + std::to_string(j + 1) +
                (field.empty() ? " is empty" : " is '" + std::string(field.substr(0, 40)) + "', not a number"));
    *out++ = *value;
  }
  if (j != t.cols) in.refuse("has " + std::to_string(j) + " fields; the first line has " + std::to_string(t.cols));
}

/// Calls use(i, line) for the rows of `range`, i counted from its first one.
template <class Use>
void each_row(LineReader& in, const CsvTable& t, RowRange range, const Use& use) {
  if (t.names) (void)next_row(in);
  for (index_t i = 0; i < range.end; ++i) {
    const auto line = next_row(in);
    if (!line) in.refuse("the file became shorter while it was read");
    if (i >= range.begin) use(i - range.begin, *line);
  }
}

/// The column that `name` means: a number, from -1 at the end, or a name in the first line.
index_t find_column(const std::filesystem::path& file, const CsvTable& t, const std::string& name) {
  if (const auto number = to_number(name); number && *number == static_cast<double>(static_cast<int>(*number))) {
    const index_t column = static_cast<index_t>(*number) + (*number < 0 ? t.cols : 0);
    if (column >= 0 && column < t.cols) return column;
    throw Error(Errc::invalid_argument,
                file.string() + " has no column " + name + "; it has columns 0 to " + std::to_string(t.cols - 1));
  }
  LineReader in(file);
  const auto first = next_row(in);
  std::string_view rest = first.value_or("");
  bool more = true;
  index_t j = 0;
  if (t.names)
    for (std::string_view field; next_field(rest, more, t.separator, field); ++j)
      if (field == name) return j;
  throw Error(Errc::invalid_argument, file.string() + " has no column named '" + name + "'" +
                                          (t.names ? "" : ": its first line holds numbers, not names"));
}

}  // namespace

Description describe_csv(const Location& where, const ReadOptions& options) {
  const CsvTable t = surveyed(where, options);
  return description_of(t, t.numbers(), where, options);
}

MatrixFile read_csv(const Location& where, const ReadOptions& options) {
  const CsvTable t = surveyed(where, options);
  refuse_index(t, where, options);
  MatrixFile result{description_of(t, t.numbers(), where, options), {}};
  LineReader in(where.file, options.memory_limit);
  const RowRange range = rows_in_file(t.rows, options);
  in.hold(bytes_of_rows(result.description, range, options));
  Matrix<double> a(range.count(), t.numbers());
  each_row(in, t, range, [&](index_t i, std::string_view line) { parse_row(in, line, t, a.data() + i * a.cols()); });
  result.matrix = finished(std::move(a), options, where.file.string());
  return result;
}

LabelledTable read_csv_with_labels(const Location& where, const ReadOptions& options, const std::string& column) {
  CsvTable t = surveyed(where, options);
  const index_t label_column = find_column(where.file, t, column);
  if (label_column == 0)  // set aside already
    t.unnamed = t.dropped = false;
  else
    refuse_index(t, where, options);
  LabelledTable result{{description_of(t, t.numbers() - 1, where, options), {}}, {}};
  LineReader in(where.file, options.memory_limit);
  const RowRange range = rows_in_file(t.rows, options);
  in.hold(bytes_of_rows(result.table.description, range, options));
  Matrix<double> a(range.count(), t.numbers() - 1);
  std::string label;
  each_row(in, t, range, [&](index_t i, std::string_view line) {
    parse_row(in, line, t, a.data() + i * a.cols(), label_column, &label);
    result.labels.push_back(label);
  });
  result.table.matrix = finished(std::move(a), options, where.file.string());
  return result;
}

}  // namespace ts::io
