#include "tallskinny/io/text/columns.hpp"

#include <algorithm>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/matrix/description.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/text/line_reader.hpp"

namespace ts::inline v0::io {

namespace {

[[noreturn]] void refuse_column(const std::string& file, const std::vector<std::string>& names, index_t count,
                                const std::string& name, const std::string& option) {
  const std::string known =
      "it has columns 0 to " + std::to_string(count - 1) + (names.empty() ? "" : ": " + listed(names));
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
