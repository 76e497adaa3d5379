// Tables of numbers in text: the separator is found in the first line, a first line without any number holds
// names, lines before it that start with # are comments.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tallskinny/io/labelled_table.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/text/table.hpp"

namespace ts::inline v0::io {

namespace {

struct CsvTable {
  char separator = ' ';            ///< ' ' stands for any run of blanks
  bool names = false;              ///< the first line holds names
  index_t rows = 0, cols = 0;      ///< rows without those that are dropped; cols of the file
  bool unnamed = false;            ///< but none for the first column
  bool open_ended = false;         ///< nothing stands behind the last separator of any line
  bool index = false;              ///< which counts the rows, from 0 or 1
  std::vector<std::string> title;  ///< of all columns, where the first line holds names
  std::vector<char> read;          ///< of all columns: whether it is a feature
  index_t numbers = 0;             ///< features
  index_t labels = -1;             ///< column of the labels
  TableOptions options;
  std::vector<double> means;  ///< of features, where those are filled in
  index_t rows_dropped = 0, values_filled = 0, comments = 0;
};

/// Field `j` of a line; "" where it has fewer.
std::string_view field_at(std::string_view line, char separator, index_t j) {
  std::string_view field;
  bool more = true;
  for (; j >= 0; --j)
    if (!next_field(line, more, separator, field)) return {};
  return field;
}

/// "field 2" or "field 2 (height)", counted from 1.
std::string field_text(const CsvTable& t, index_t j) {
  const auto at = static_cast<std::size_t>(j);
  return joined("field ", j + 1,
                at < t.title.size() && !t.title[at].empty() ? " (" + t.title[at].substr(0, 40) + ")" : "");
}

[[noreturn]] void refuse_field(const LineReader& in, const CsvTable& t, index_t j, std::string_view field) {
  std::string cause = field_text(t, j) + (field.empty() ? " is empty" : joined(" is '", field.substr(0, 40), "'"));
  if (is_missing(field))
    in.refuse(cause + (field.empty() ? "" : ", not a number") +
              "; --missing drop leaves out such rows, --missing mean takes the mean of the column");
  if (!t.options.decimal_comma && number_in(field, true))
    in.refuse(cause + ", not a number; --decimal comma reads it as one");
  if (t.options.decimal_comma && field.find('.') != std::string_view::npos)
    in.refuse(cause + ", not a number: with --decimal comma a number has no point");
  if (j == 0 && field.starts_with('#')) in.refuse(cause + ", not a number; --comment '#' leaves out such lines");
  const auto at = static_cast<std::size_t>(j);
  const bool named = at < t.title.size() && !t.title[at].empty();
  in.refuse(cause + ", not a number; --drop " + (named ? t.title[at].substr(0, 40) : std::to_string(j)) +
            " leaves out the column");
}

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// Writes the features of one line to `out`, those that are missing as NaN, and a label, if there is one, to `label`.
/// Returns how many are missing.
index_t parse_row(const LineReader& in, std::string_view rest, const CsvTable& t, double* out, std::string& label) {
  bool more = true, blank = false;
  index_t j = 0, missing = 0;
  const bool all_there = t.options.missing == Missing::refuse;
  for (std::string_view field; next_field(rest, more, t.separator, field); ++j) {
    blank = field.empty();
    if (j >= t.cols) continue;
    if (j == t.labels) label = field;
    if (t.read[static_cast<std::size_t>(j)] == 0) continue;
    auto value = number_in(field, t.options.decimal_comma);
    if (!value && !all_there && is_missing(field)) value = no_value;
    if (!value) refuse_field(in, t, j, field);
    if (!all_there && std::isnan(*value)) ++missing;
    *out++ = *value;
  }
  if (blank && j == t.cols + 1) --j;  // the line ends with a separator
  if (j != t.cols) in.refuse(joined("has ", j, " fields; the first line has ", t.cols));
  return missing;
}

/// Starts the survey of a table from its first line: separator, names of columns, columns chosen.
CsvTable begin_survey(const std::string& file, std::string_view first, const CsvRows& in, const ReadOptions& options) {
  CsvTable t;
  t.options = options.table;
  t.separator = in.separator.value_or(find_separator(first, t.options.decimal_comma));
  bool any_number = false;
  const auto fields = fields_of(first, t.separator);
  if (t.separator == ' ') refuse_svmlight(file, fields);
  for (const std::string_view field : fields) {
    any_number |= number_in(field, t.options.decimal_comma).has_value();
    t.title.emplace_back(field);
  }
  t.names = !any_number;
  t.cols = std::ssize(fields);
  if (t.cols > 1 && fields.back().empty()) {  // a column of missing values, or none
    CsvRows rows(file, options);
    t.open_ended = true;
    while (const auto line = t.open_ended ? rows.next() : std::nullopt)
      t.open_ended = field_at(*line, t.separator, t.cols - 1).empty();
    if (t.open_ended) t.title.pop_back(), --t.cols;
  }
  t.unnamed = t.names && t.cols > 1 && (t.title.front().empty() || t.title.front() == "Unnamed: 0");
  if (!t.names) t.title.clear();
  if (options.drop_index && options.keep_index)
    throw Error(Errc::invalid_argument, "--drop-index and --keep-index exclude each other: give one of them");
  if (options.drop_index && !t.unnamed)
    throw Error(Errc::invalid_argument, "--drop-index: the first column of " + file +
                                            " has a name, or is the only one, so that it is no index");
  if (options.drop_index) t.options.drop.emplace_back("0");
  t.read = chosen_columns(file, t.title, t.cols, t.options);
  t.numbers = std::count(t.read.begin(), t.read.end(), char{1});
  if (!t.options.labels.empty()) t.labels = find_column(file, t.title, t.cols, t.options.labels, "--labels-column");
  t.index = t.unnamed && t.read.front() != 0;
  return t;
}

/// Counts the missing values of a row, and the others into `counts` and the sums that become means.
class MissingSurvey {
 public:
  explicit MissingSurvey(CsvTable& t) : t_(t), row_(at(t.numbers)), counts_(at(t.numbers)) {
    if (t.options.missing == Missing::mean) t.means.resize(at(t.numbers));
  }
  /// Looks at a row before it is read; false if it is dropped for lack of a value.
  bool look(const LineReader& in, std::string_view line) {
    if (t_.options.missing == Missing::refuse) return true;
    const index_t missing = parse_row(in, line, t_, row_.data(), label_);
    if (t_.options.missing == Missing::drop) {
      t_.rows_dropped += missing > 0 ? 1 : 0;
      return missing == 0;
    }
    t_.values_filled += missing;
    for (std::size_t j = 0; j < row_.size(); ++j)
      if (!std::isnan(row_[j])) t_.means[j] += row_[j], ++counts_[j];
    return true;
  }
  void end(const std::string& file) {
    for (std::size_t j = 0, column = 0; j < t_.means.size(); ++j, ++column) {
      while (t_.read[column] == 0) ++column;
      if (counts_[j] == 0)
        throw Error(Errc::bad_input, file + ": " + field_text(t_, static_cast<index_t>(column)) +
                                         " has no value in any row, so that it has no mean; --drop leaves it out");
      t_.means[j] /= static_cast<double>(counts_[j]);
    }
  }

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
  CsvTable& t_;
  std::vector<double> row_;
  std::vector<index_t> counts_;
  std::string label_;
};

CsvTable survey_csv(const std::filesystem::path& file, const ReadOptions& options) {
  CsvRows in(file, options);
  const auto first = in.next();
  if (!first) refuse(file, "holds no numbers");
  CsvTable t = begin_survey(file.string(), *first, in, options);
  MissingSurvey missing(t);
  double start = 0;
  index_t lines = 0;
  for (auto line = t.names ? in.next() : first; line; line = in.next()) {
    if (t.index) {
      const auto number = number_in(field_at(*line, t.separator, 0), t.options.decimal_comma);
      if (lines == 0) start = number.value_or(-1);
      t.index = (start == 0 || start == 1) && number == start + static_cast<double>(lines);
    }
    ++lines;
    if (missing.look(in.lines, *line)) ++t.rows;
  }
  t.comments = in.comments;
  if (lines == 0) refuse(file, "line 1: holds no number, and no line follows");
  missing.end(file.string());
  return t;
}

/// An index is no feature: whether it is wanted must be said.
void refuse_index(const CsvTable& t, const Location& where, const ReadOptions& options) {
  if (t.index && !options.keep_index)
    throw Error(Errc::bad_input, where.file.string() +
                                     ": the first column has no name and counts the rows, like the index that "
                                     "pandas writes; --drop-index leaves it out, --keep-index reads it as numbers");
}

Description description_of(const CsvTable& t, const Location& where, const ReadOptions& options) {
  Description d;
  d.where = {where.file, ""};
  d.convention = "CSV";
  d.stored_type = "text";
  set_dense(d, t.rows, t.numbers, DType::float64, options);
  if (t.names && !options.transpose)
    for (std::size_t j = 0; j < t.title.size(); ++j)
      if (t.read[j] != 0) d.column_names.push_back(t.title[j]);
  d.rows_dropped = t.rows_dropped, d.values_filled = t.values_filled;
  if (t.names) d.note = "the first line holds names";
  if (t.unnamed && t.labels != 0)
    d.note += t.read.front() == 0 ? "; the first column, which has none, is left out"
                                  : ", but none for the first column: if it is an index, --drop-index leaves it out";
  const auto add = [&d](const std::string& words) { d.note += (d.note.empty() ? "" : "; ") + words; };
  if (t.open_ended) add("what follows the last separator of each line is empty and no column");
  if (t.comments > 0)
    add(std::to_string(t.comments) + (t.comments == 1 ? " line is a comment" : " lines are comments"));
  return d;
}

/// Reads the rows of `range`, counted among those that are read, into a(i) for i from 0 on, and calls labelled(label)
/// for each.
template <class Labelled>
void read_rows(CsvRows& rows, const CsvTable& t, RowRange range, Matrix<double>& a, const Labelled& labelled) {
  const LineReader& in = rows.lines;
  if (t.names) (void)rows.next();
  std::vector<double> before(static_cast<std::size_t>(t.numbers));
  std::string label;
  for (index_t i = 0; i < range.end;) {
    const auto line = rows.next();
    if (!line) in.refuse("the file became shorter while it was read");
    double* const out = i < range.begin ? before.data() : a.data() + (i - range.begin) * a.cols();
    if (i < range.begin && t.options.missing != Missing::drop) {
      ++i;
      continue;
    }
    if (parse_row(in, *line, t, out, label) > 0) {
      if (t.options.missing == Missing::drop) continue;
      for (std::size_t j = 0; j < t.means.size(); ++j)
        if (std::isnan(out[j])) out[j] = t.means[j];
    }
    if (i >= range.begin && t.labels >= 0 && label.empty())
      in.refuse(field_text(t, t.labels) + ", the label, is empty");
    if (i++ >= range.begin) labelled(label);
  }
}

template <class Labelled>
MatrixFile read_surveyed(const CsvTable& t, const Location& where, const ReadOptions& options,
                         const Labelled& labelled) {
  refuse_index(t, where, options);
  MatrixFile result{description_of(t, where, options), {}};
  CsvRows in(where.file, options);
  const RowRange range = rows_in_file(t.rows, options);
  in.lines.hold(bytes_of_rows(result.description, range, options));
  Matrix<double> a(range.count(), t.numbers);
  read_rows(in, t, range, a, labelled);
  result.matrix = finished(std::move(a), options, where.file.string());
  return result;
}

Description describe_csv(const Location& where, const ReadOptions& options) {
  return description_of(survey_csv(where.file, options), where, options);
}

MatrixFile read_csv(const Location& where, const ReadOptions& options) {
  CsvTable t = survey_csv(where.file, options);
  t.labels = -1;  // which nobody looks at
  return read_surveyed(t, where, options, [](const std::string&) {});
}

}  // namespace

LabelledTable read_csv_with_labels(const Location& where, ReadOptions options, const std::string& column) {
  options.table.labels = column;
  LabelledTable result;
  result.table = read_surveyed(survey_csv(where.file, options), where, options,
                               [&](const std::string& label) { result.labels.push_back(label); });
  return result;
}

NumberedLabels read_csv_labels(const Location& where, const ReadOptions& options) {
  const CsvTable t = survey_csv(where.file, options);
  const RowRange range = row_range(t.rows, options);
  CsvRows rows(where.file, options);
  LineReader& in = rows.lines;
  in.hold(product({range.count(), sizeof(std::int32_t)}));
  NumberedLabels result;
  result.numbers.reserve(static_cast<std::size_t>(range.count()));
  std::map<std::string, std::int32_t> known;
  std::vector<double> features(static_cast<std::size_t>(t.numbers));
  std::string label;
  if (t.names) (void)rows.next();
  for (index_t i = 0; i < t.rows;) {
    const auto line = rows.next();
    if (!line) in.refuse("the file became shorter while it was read");
    if (parse_row(in, *line, t, features.data(), label) > 0 && t.options.missing == Missing::drop) continue;
    if (label.empty()) in.refuse(field_text(t, t.labels) + ", the label, is empty");
    const auto [found, is_new] = known.try_emplace(label, static_cast<std::int32_t>(known.size()));
    if (is_new) in.hold(2 * label.size() + sizeof(*found)), result.names.push_back(label);
    if (i >= range.begin && i < range.end) result.numbers.push_back(found->second);
    ++i;
  }
  return result;
}

const Format formats::csv = {.name = "csv",
                             .matches =
                                 [](const std::string& name, std::string_view) {
                                   return has_ending(name, {".csv", ".tsv", ".txt", ".dat"});
                                 },
                             .describe = describe_csv,
                             .read = read_csv,
                             .has_columns = true};

}  // namespace ts::inline v0::io
