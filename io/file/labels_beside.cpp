#include <algorithm>
#include <charconv>
#include <map>

#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/labelled_table.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

bool is_number(const std::string& text) {
  index_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// The codes of categories, the values of a nullable array, or the object itself.
std::string vector_of(const hdf5::Node& object) {
  if (object.is_dataset()) return object.path();
  if (object.has("codes") && object.has("categories")) return object.path() + "/codes";
  if (object.has("values") && object.has("mask")) return object.path() + "/values";
  object.refuse("holds no labels: --labels-column takes numbers or categories");
}

}  // namespace

std::optional<Location> labels_beside(const Location& where, ReadOptions& options) {
  const std::string name = options.table.labels;
  if (name.empty() || is_number(name)) return std::nullopt;
  if (!hdf5::has_signature(where.file)) {
    ReadOptions all = options;
    all.table = {};
    const Description d = describe(where, all);
    if (d.convention != "ARFF") return std::nullopt;
    if (std::find(d.column_names.begin(), d.column_names.end(), name) == d.column_names.end())
      options.table.labels.clear();
    return Location{where.file, name};
  }
  const hdf5::Node root = open_hdf5(where.file, options);
  const auto named = root.find(name);
  const auto object = named || name.front() == '/' ? named : root.find("obs/" + name);
  if (!object) refuse(where.file, joined("has no object '", name, "', which --labels-column names"));
  options.table.labels.clear();
  return Location{where.file, vector_of(*object)};
}

NumberedLabels read_labels_beside(const Location& labels, const Description& matrix, const ReadOptions& options) {
  const std::vector<double> values = read_vector(labels, options);
  if (matrix.rows_dropped > 0)
    refuse(labels.text(),
           joined("has labels of all rows, and --missing drop leaves out ", matrix.rows_dropped, " of them"));
  NumberedLabels result;
  std::map<double, std::int32_t> known;
  std::vector<std::int32_t> numbers;
  for (const double value : values) {
    const auto [found, is_new] = known.try_emplace(value, static_cast<std::int32_t>(known.size()));
    if (is_new) result.names.push_back(std::to_string(value));
    numbers.push_back(found->second);
  }
  const RowRange range = row_range(std::ssize(numbers), options);
  result.numbers.assign(numbers.begin() + range.begin, numbers.begin() + range.end);
  return result;
}

}  // namespace ts::inline v0::io
