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
      if (c == candidate && !quoted &&
          (candidate != '\t' || trimmed(line).find('\t') != std::string_view::npos))
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

CsvTable survey_csv(const std::filesystem::path& file, const ReadOptions& options) {
  LineReader in(file, options.memory_limit);
  CsvTable t;
  const auto first = next_row(in);
  if (!first) throw Error(Errc::bad_input, file.string() + " holds no numbers");
  t.separator = find_separator(*first);
  bool any_number = false;
  t.cols = count_fields(*first, t.separator, &any_number);
  t.names = !any_number;
  std::string_view rest = *first, name;
  bool more = true;
  t.unnamed = t.names && next_field(rest, more, t.separator, name) && name.empty();
  t.rows = t.names ? 0 : 1;
  while (const auto line = next_row(in)) ++t.rows;
  if (t.rows == 0)
    throw Error(Errc::bad_input, file.string() + " line 1: holds no number, and no line follows");
  return t;
}

Description description_of(const CsvTable& t, const Location& where, const ReadOptions& options) {
  Description d;
  d.where = {where.file, ""};
  d.convention = "CSV";
  d.stored_type = "text";
  set_dense(d, t.rows, t.cols, DType::float64, options);
  if (t.names) d.note = "the first line holds names";
  if (t.unnamed)
    d.note +=
        ", but none for the first column: if it is an index, as pandas writes it, tsdata convert "
        "--labels-column 0 sets it aside";
  return d;
}

/// Writes the numbers of one line to `out`. The field of column `label_column`, if there is one, goes to
/// `label` instead.
void parse_row(const LineReader& in, std::string_view rest, const CsvTable& t, double* out,
               index_t label_column = -1, std::string* label = nullptr) {
  bool more = true;
  index_t j = 0;
  for (std::string_view field; next_field(rest, more, t.separator, field); ++j) {
    if (j >= t.cols) continue;
    if (j == label_column) {
      if (field.empty()) in.refuse("field " + std::to_string(j + 1) + ", the label, is empty");
      *label = field;
      continue;
    }
    const auto value = to_number(field);
    if (!value)
      in.refuse(
          "field " + std::to_string(j + 1) +
          (field.empty() ? " is empty" : " is '" + std::string(field.substr(0, 40)) + "', not a number"));
    *out++ = *value;
  }
  if (j != t.cols)
    in.refuse("has " + std::to_string(j) + " fields; the first line has " + std::to_string(t.cols));
}

/// The column that `name` means: a number, from -1 at the end, or a name in the first line.
index_t find_column(const std::filesystem::path& file, const CsvTable& t, const std::string& name) {
  if (const auto number = to_number(name);
      number && *number == static_cast<double>(static_cast<int>(*number))) {
    const index_t column = static_cast<index_t>(*number) + (*number < 0 ? t.cols : 0);
    if (column >= 0 && column < t.cols) return column;
    throw Error(Errc::invalid_argument, file.string() + " has no column " + name + "; it has columns 0 to " +
                                            std::to_string(t.cols - 1));
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
  return description_of(survey_csv(where.file, options), where, options);
}

MatrixFile read_csv(const Location& where, const ReadOptions& options) {
  const CsvTable t = survey_csv(where.file, options);
  MatrixFile result{description_of(t, where, options), {}};
  LineReader in(where.file, options.memory_limit);
  in.hold(result.description.peak_bytes);
  Matrix<double> a(t.rows, t.cols);
  if (t.names) (void)next_row(in);
  for (index_t i = 0; i < t.rows; ++i) {
    const auto line = next_row(in);
    if (!line) in.refuse("the file became shorter while it was read");
    parse_row(in, *line, t, a.data() + i * t.cols);
  }
  result.matrix = finished(std::move(a), options, where.file.string());
  return result;
}

LabelledTable read_csv_with_labels(const Location& where, const ReadOptions& options,
                                   const std::string& column) {
  const CsvTable t = survey_csv(where.file, options);
  const index_t label_column = find_column(where.file, t, column);
  const CsvTable numbers{t.separator, t.names, t.rows, t.cols - 1};
  LabelledTable result{{description_of(numbers, where, options), {}}, {}};
  LineReader in(where.file, options.memory_limit);
  in.hold(result.table.description.peak_bytes);
  Matrix<double> a(t.rows, numbers.cols);
  if (t.names) (void)next_row(in);
  const index_t end = options.row_end < 0 ? t.rows : options.row_end;
  std::string label;
  for (index_t i = 0; i < t.rows; ++i) {
    const auto line = next_row(in);
    if (!line) in.refuse("the file became shorter while it was read");
    parse_row(in, *line, t, a.data() + i * numbers.cols, label_column, &label);
    if (i < options.row_begin || i >= end) continue;
    in.hold(sizeof label + label.size());
    result.labels.push_back(label);
  }
  result.table.matrix = finished(std::move(a), options, where.file.string());
  return result;
}

}  // namespace ts::io
