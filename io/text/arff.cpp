// Attribute-relation files. https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable
#include <algorithm>

#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/text/line_reader.hpp"

namespace ts::inline v0::io {

namespace {

struct Attribute {
  std::string name;
  bool numeric = false;
  std::vector<std::string> values;  ///< of a nominal attribute
};

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

/// The fields between commas, or blanks where there is no comma; quotes enclose fields.
void split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  if (line.find(',') == std::string_view::npos && line.find_first_of("'\"") == std::string_view::npos) {
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) fields.push_back(word);
    return;
  }
  std::size_t begin = 0;
  char quote = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i == line.size() || (line[i] == ',' && quote == 0)) {
      fields.push_back(trimmed(line.substr(begin, i - begin)));
      begin = i + 1;
    } else if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '\'' || line[i] == '"') {
      quote = line[i];
    }
  }
}

Attribute parse_attribute(LineReader& in, std::string_view rest) {
  rest = trimmed(rest);
  Attribute a;
  if (!rest.empty() && (rest.front() == '\'' || rest.front() == '"')) {
    const auto close = rest.find(rest.front(), 1);
    if (close == std::string_view::npos) in.refuse("the quotes of an attribute's name are not closed");
    a.name = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
  } else {
    a.name = next_word(rest);
  }
  const auto type = trimmed(rest);
  const std::string word = lower_case(type);
  if (a.name.empty() || type.empty()) in.refuse("an attribute needs a name and a type");
  a.numeric = word.starts_with("real") || word.starts_with("numeric") || word.starts_with("integer");
  if (type.front() == '{') {
    if (type.back() != '}') in.refuse("the list of values of attribute '" + a.name + "' is not closed");
    std::vector<std::string_view> values;
    split(type.substr(1, type.size() - 2), values);
    for (const auto value : values) {
      in.hold(sizeof(std::string) + value.size());
      a.values.push_back(unquoted(value));
    }
  }
  return a;
}

std::vector<Attribute> parse_attributes(LineReader& in) {
  std::vector<Attribute> attributes;
  while (const auto line = in.next_content('%')) {
    std::string_view rest = *line;
    const std::string keyword = lower_case(next_word(rest));
    if (keyword == "@data") return attributes;
    in.hold(sizeof(Attribute) + rest.size());
    if (keyword == "@attribute")
      attributes.push_back(parse_attribute(in, rest));
    else if (keyword != "@relation")
      in.refuse("'" + keyword.substr(0, 40) + "' where @relation, @attribute or @data is expected");
  }
  in.refuse("the file ends before @data");
}

struct ArffTable {
  std::vector<Attribute> attributes;
  index_t rows = 0, cols = 0;
};

ArffTable survey_arff(const std::filesystem::path& file, const ReadOptions& options) {
  LineReader in(file, options.memory_limit);
  ArffTable t;
  t.attributes = parse_attributes(in);
  t.cols = std::count_if(t.attributes.begin(), t.attributes.end(), [](const auto& a) { return a.numeric; });
  if (t.cols == 0) refuse(file, "has no numeric attribute");
  while (in.next_content('%')) ++t.rows;
  return t;
}

/// The fields of the next data line, one for each attribute.
void next_row(LineReader& in, std::size_t attributes, std::vector<std::string_view>& fields) {
  const auto line = in.next_content('%');
  if (!line) in.refuse("the file became shorter while it was read");
  if (line->front() == '{') in.refuse("sparse rows are not supported; write every attribute");
  split(*line, fields);
  if (fields.size() != attributes) in.refuse(joined("has ", fields.size(), " values for ", attributes, " attributes"));
}

double parse_number(const LineReader& in, const Attribute& attribute, std::string_view field) {
  const auto value = to_number(field);
  if (!value)
    in.refuse("attribute '" + attribute.name + "' is " +
              (field == "?" ? "missing" : joined("'", field.substr(0, 40), "', not a number")));
  return *value;
}

Description description_of(const ArffTable& t, const Location& where, const ReadOptions& options) {
  Description d;
  d.where = {where.file, ""};
  d.convention = "ARFF";
  d.stored_type = "text";
  set_dense(d, t.rows, t.cols, DType::float64, options);
  for (const Attribute& a : t.attributes)
    if (a.numeric && !options.transpose)
      d.column_names.push_back(a.name);
    else if (!a.numeric)
      d.note += (d.note.empty() ? "left out: attribute " : ", ") + a.name;
  return d;
}

Description describe_arff(const Location& where, const ReadOptions& options) {
  return description_of(survey_arff(where.file, options), where, options);
}

MatrixFile read_arff(const Location& where, const ReadOptions& options) {
  const ArffTable t = survey_arff(where.file, options);
  MatrixFile result{description_of(t, where, options), {}};
  LineReader in(where.file, options.memory_limit);
  const RowRange range = rows_in_file(t.rows, options);
  in.hold(bytes_of_rows(result.description, range, options));
  Matrix<double> a(range.count(), t.cols);
  (void)parse_attributes(in);
  std::vector<std::string_view> fields;
  double* out = a.data();
  for (index_t i = 0; i < range.end; ++i) {
    next_row(in, t.attributes.size(), fields);
    for (std::size_t k = 0; i >= range.begin && k < fields.size(); ++k)
      if (t.attributes[k].numeric) *out++ = parse_number(in, t.attributes[k], fields[k]);
  }
  result.matrix = finished(std::move(a), options, where.file.string());
  return result;
}

}  // namespace

std::vector<double> read_arff_attribute(const std::filesystem::path& file, const std::string& name,
                                        const ReadOptions& options) {
  const ArffTable t = survey_arff(file, options);
  const auto found = std::find_if(t.attributes.begin(), t.attributes.end(),
                                  [&](const auto& a) { return lower_case(a.name) == lower_case(name); });
  if (found == t.attributes.end()) {
    std::string known;
    for (const Attribute& a : t.attributes) known += (known.empty() ? "" : ", ") + a.name;
    refuse(file, joined("has no attribute '", name, "'; it has ", known));
  }
  if (!found->numeric && found->values.empty())
    throw Error(Errc::bad_input, file.string() + ": attribute '" + name + "' is neither numeric nor nominal");
  const auto column = static_cast<std::size_t>(found - t.attributes.begin());
  LineReader in(file, options.memory_limit);
  (void)parse_attributes(in);
  in.hold(product({t.rows, sizeof(double)}));
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(t.rows));
  std::vector<std::string_view> fields;
  for (index_t i = 0; i < t.rows; ++i) {
    next_row(in, t.attributes.size(), fields);
    if (found->numeric) {
      values.push_back(parse_number(in, *found, fields[column]));
      continue;
    }
    const auto at = std::find(found->values.begin(), found->values.end(), unquoted(fields[column]));
    if (at == found->values.end())
      in.refuse(joined("'", fields[column].substr(0, 40), "' is not a value of attribute '", found->name, "'"));
    values.push_back(static_cast<double>(at - found->values.begin()));
  }
  return values;
}

const Format formats::arff = {
    .name = "arff",
    .matches = [](const std::string& name, std::string_view) { return has_ending(name, {".arff"}); },
    .describe = describe_arff,
    .read = read_arff};

}  // namespace ts::inline v0::io
