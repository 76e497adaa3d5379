#include "tallskinny/io/text/csv_rows.hpp"

#include <algorithm>
#include <array>

#include "tallskinny/gemm/core/error.hpp"

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
  throw Error(Errc::bad_input, file.string() +
                                   " is in svmlight's format, which is not read: scipy.sparse.save_npz(\"points.npz\", "
                                   "sklearn.datasets.load_svmlight_file(\"" +
                                   name_for_commands(file) + "\")[0]) makes a file that is");
}

}  // namespace ts::inline v0::io
