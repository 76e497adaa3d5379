#include "tallskinny/app/tsdata/labels.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/labelled_table.hpp"

namespace ts::tsdata {

namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(Errc::invalid_argument, "--labels-column: " + sentence);
}

std::int64_t label_of(double x, const std::string& name) {
  if (x != std::floor(x) || std::fabs(x) > 0x1p53)
    throw Error(Errc::bad_input, name + " holds " + app::value_text(x) + ", which is not an integer label");
  return static_cast<std::int64_t>(x);
}

template <class T>
Matrix<T> without_column(const Matrix<T>& a, index_t column) {
  Matrix<T> rest(a.rows(), a.cols() - 1);
  for (index_t i = 0; i < a.rows(); ++i)
    for (index_t j = 0; j < rest.cols(); ++j) rest(i, j) = a(i, j < column ? j : j + 1);
  return rest;
}

/// The column of `a` that holds exactly `values`: a numeric attribute is a feature too until it is taken out.
template <class T>
std::optional<index_t> column_with(const Matrix<T>& a, const std::vector<double>& values) {
  for (index_t j = 0; j < a.cols(); ++j) {
    bool same = true;
    for (index_t i = 0; i < a.rows() && same; ++i) same = to_wide(a(i, j)) == values[static_cast<std::size_t>(i)];
    if (same) return j;
  }
  return std::nullopt;
}

/// Labels as integers, if all are; else as positions among the sorted words.
void number_labels(const std::vector<std::string>& words, LabelledMatrix& result) {
  result.labels.resize(words.size());
  bool numbers = true;
  for (std::size_t i = 0; i < words.size() && numbers; ++i) numbers = app::parse_value(words[i], result.labels[i]);
  if (numbers) return;
  result.names = words;
  std::sort(result.names.begin(), result.names.end());
  result.names.erase(std::unique(result.names.begin(), result.names.end()), result.names.end());
  for (std::size_t i = 0; i < words.size(); ++i)
    result.labels[i] = std::lower_bound(result.names.begin(), result.names.end(), words[i]) - result.names.begin();
}

}  // namespace

LabelledMatrix read_labelled(const io::Location& where, const io::ReadOptions& options, const std::string& column) {
  if (column.empty()) return {io::read_matrix(where, options), {}, {}};
  if (options.transpose) refuse("a transposed matrix has its labels in a row");
  if (io::describe(where, options).convention == "CSV") {
    io::LabelledTable table = io::read_csv_with_labels(where, options, column);
    LabelledMatrix result{std::move(table.table), {}, {}};
    number_labels(table.labels, result);
    return result;
  }
  LabelledMatrix result{io::read_matrix(where, options), {}, {}};
  auto* const dense = std::get_if<io::DenseMatrix>(&result.matrix.matrix);
  if (dense == nullptr) refuse(where.text() + " is sparse, and labels are taken from tables");

  const std::string name = where.text() + ", column " + column;
  index_t number = 0;
  const bool is_number = app::parse_value(column, number);
  std::vector<double> values;
  if (!is_number) {
    values = io::read_vector({where.file, column}, options);
    const index_t end =
        options.row_end < 0 ? std::ssize(values) : std::min<index_t>(options.row_end, std::ssize(values));
    values = {values.begin() + std::min(options.row_begin, end), values.begin() + end};
  }
  // The matrix moves out while its successor is made.
  io::DenseMatrix table = std::move(*dense);
  result.matrix.matrix = std::visit(
      [&]<class T>(Matrix<T>& a) -> io::DenseMatrix {
        if constexpr (is_complex<T>) {
          refuse(where.text() + " is complex, and labels are integers");
        } else {
          std::optional<index_t> taken;
          if (is_number) {
            taken = number < 0 ? number + a.cols() : number;
            if (*taken < 0 || *taken >= a.cols())
              refuse(where.text() + " has no column " + column + "; it has columns 0 to " +
                     std::to_string(a.cols() - 1));
            for (index_t i = 0; i < a.rows(); ++i) values.push_back(to_wide(a(i, *taken)));
          } else {
            taken = column_with(a, values);
          }
          for (const double value : values) result.labels.push_back(label_of(value, name));
          return taken ? without_column(a, *taken) : std::move(a);
        }
      },
      table);
  return result;
}

}  // namespace ts::tsdata
