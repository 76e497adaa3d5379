#include "tallskinny/io/text/table.hpp"

#include <algorithm>
#include <array>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/text/line_reader.hpp"

namespace ts::inline v0::io {

bool CsvRows::is_comment(std::string_view text) const {
  if (comment_) return !comment_->empty() && text.starts_with(*comment_);
  if (begun_ || !text.starts_with('#')) return false;
  // A spreadsheet writes #N/A, #DIV/0!, #NAME? in place of a number.
  constexpr std::string_view capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ/0";
  const auto end = text.find_first_not_of(capitals, 1);
  const bool mark = end != std::string_view::npos && end > 1 && (text[end] == '!' || text[end] == '?');
  return !mark && !is_missing(text.substr(0, end));
}

std::optional<std::string_view> CsvRows::next() {
  while (const auto line = lines.next()) {
    const auto text = trimmed(*line);
    if (text.empty()) continue;
    if (is_comment(text)) {
      ++comments;
      continue;
    }
    if (!begun_ && !separator && text.size() <= 5 && lower_case(text.substr(0, 4)) == "sep=") {
      separator = text.size() == 5 ? text.back() : '\t';  // which is trimmed
      continue;
    }
    begun_ = true;
    return line;
  }
  return std::nullopt;
}

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

std::vector<std::string_view> fields_of(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  bool more = true;
  for (std::string_view field; next_field(line, more, separator, field);) fields.push_back(field);
  return fields;
}

char find_separator(std::string_view line, bool decimal_comma) {
  for (const char candidate : {';', '\t', ',', '|'}) {
    bool quoted = false;
    if (candidate == ',' && decimal_comma) continue;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == candidate && !quoted && (candidate != '\t' || trimmed(line).find('\t') != std::string_view::npos))
        return candidate;
    }
  }
  return ' ';
}

std::optional<double> number_in(std::string_view field, bool decimal_comma) {
  if (!decimal_comma) return to_number(field);
  const auto comma = field.find(',');
  std::array<char, 64> copy{};
  if (field.find('.') != std::string_view::npos || field.size() >= copy.size()) return std::nullopt;
  std::copy(field.begin(), field.end(), copy.begin());
  if (comma != std::string_view::npos) copy[comma] = '.';
  return to_number({copy.data(), field.size()});
}

bool is_missing(std::string_view field) {
  constexpr std::array<std::string_view, 11> words = {"",     "NA",   "N/A",  "n/a",  "#N/A", "<NA>",
                                                      "NULL", "null", "None", "NONE", "?"};
  return std::find(words.begin(), words.end(), field) != words.end();
}

std::string name_for_commands(const std::filesystem::path& file) {
  return file.parent_path() == "/proc/self/fd" ? "FILE" : file.filename().string();
}

void refuse_svmlight(const std::filesystem::path& file, const std::vector<std::string_view>& words) {
  const auto is_pair = [](std::string_view word) {
    const auto colon = word.find(':');
    return colon != std::string_view::npos && (word.starts_with("qid:") || to_integer(word.substr(0, colon))) &&
           to_number(word.substr(colon + 1));
  };
  if (words.size() < 2 || !to_number(words.front()) || !std::all_of(words.begin() + 1, words.end(), is_pair)) return;
  refuse(file, joined("is in svmlight's format, which is not read: scipy.sparse.save_npz(\"points.npz\", "
                      "sklearn.datasets.load_svmlight_file(\"",
                      name_for_commands(file), "\")[0]) makes a file that is"));
}

namespace {

[[noreturn]] void refuse_column(const std::string& file, const std::vector<std::string>& names, index_t count,
                                const std::string& name, const std::string& option) {
  const std::string known = joined("it has columns 0 to ", count - 1, names.empty() ? "" : ": " + listed(names));
  throw Error(Errc::invalid_argument, option + ": " + file + " has no column '" + name + "'; " + known);
}

/// A number from 0, or from -1 at the end; nothing for other text and other numbers.
std::optional<index_t> numbered(std::string_view text, index_t count) {
  const auto number = to_integer(text);
  if (!number || *number >= count || *number < -count) return std::nullopt;
  return *number < 0 ? *number + count : *number;
}

/// Sets `value` for all columns that `name` means.
void mark(const std::string& file, const std::vector<std::string>& names, const std::string& name,
          const std::string& option, char value, std::vector<char>& chosen) {
  const index_t count = std::ssize(chosen);
  if (std::find(names.begin(), names.end(), name) == names.end())
    if (const auto dash = name.find('-', 1); dash != std::string::npos) {
      const auto first = numbered(name.substr(0, dash), count), last = numbered(name.substr(dash + 1), count);
      if (!first || !last || *last < *first) refuse_column(file, names, count, name, option);
      std::fill(chosen.begin() + *first, chosen.begin() + *last + 1, value);
      return;
    }
  chosen[static_cast<std::size_t>(find_column(file, names, count, name, option))] = value;
}

template <class T>
Matrix<T> of_columns(const Matrix<T>& a, const std::vector<char>& chosen) {
  Matrix<T> part(a.rows(), std::count(chosen.begin(), chosen.end(), char{1}));
  T* out = part.data();
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < a.cols(); ++j)
      if (chosen[static_cast<std::size_t>(j)] != 0) *out++ = a(i, j);
  return part;
}

std::vector<char> chosen_of(const Description& d, const TableOptions& options) {
  const std::string name = d.where.text();
  if (options.decimal_comma)
    throw Error(Errc::invalid_argument, "--decimal is for csv files, and " + name + " is none");
  if (!options.selects()) return {};
  if (d.sparse)
    throw Error(Errc::invalid_argument,
                "--columns, --drop and --labels-column are for tables and dense matrices, and " + name + " is sparse");
  return chosen_columns(name, d.column_names, d.cols, options);
}

void keep_columns(Description& d, const std::vector<char>& chosen) {
  const std::vector<std::string> names = std::move(d.column_names);
  d.column_names.clear();
  for (std::size_t j = 0; j < names.size(); ++j)
    if (chosen[j] != 0) d.column_names.push_back(names[j]);
  d.declared = Structure::general;
  const std::uint64_t read = d.peak_bytes;
  set_dense(d, d.rows, std::count(chosen.begin(), chosen.end(), char{1}), d.type, {});
  d.peak_bytes = d.bytes + read;
}

}  // namespace

index_t find_column(const std::string& file, const std::vector<std::string>& names, index_t count,
                    const std::string& name, const std::string& option) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) {
    if (std::find(found + 1, names.end(), name) != names.end())
      throw Error(Errc::invalid_argument,
                  option + ": " + file + " has several columns '" + name + "': give the number of one, from 0");
    return found - names.begin();
  }
  const auto number = numbered(name, count);
  if (!number) refuse_column(file, names, count, name, option);
  return *number;
}

std::vector<char> chosen_columns(const std::string& file, const std::vector<std::string>& names, index_t count,
                                 const TableOptions& options) {
  std::vector<char> chosen(static_cast<std::size_t>(count), options.columns.empty() ? 1 : 0);
  for (const std::string& name : options.columns) mark(file, names, name, "--columns", 1, chosen);
  for (const std::string& name : options.drop) mark(file, names, name, "--drop", 0, chosen);
  if (!options.labels.empty())
    chosen[static_cast<std::size_t>(find_column(file, names, count, options.labels, "--labels-column"))] = 0;
  if (count > 0 && std::find(chosen.begin(), chosen.end(), char{1}) == chosen.end())
    throw Error(Errc::invalid_argument, "--columns, --drop and --labels-column leave no column of " + file);
  return chosen;
}

void choose_columns(Description& d, const TableOptions& options) {
  if (const auto chosen = chosen_of(d, options); !chosen.empty()) keep_columns(d, chosen);
}

void choose_columns(MatrixFile& file, const TableOptions& options) {
  const auto chosen = chosen_of(file.description, options);
  if (chosen.empty()) return;
  keep_columns(file.description, chosen);
  auto& dense = std::get<DenseMatrix>(file.matrix);
  dense = std::visit([&](const auto& a) -> DenseMatrix { return of_columns(a, chosen); }, dense);
}

}  // namespace ts::inline v0::io
