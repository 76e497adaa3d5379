#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsdata/commands.hpp"
#include "tallskinny/app/tsdata/write.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/labelled_table.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/io/table_output.hpp"

namespace ts::tsdata {

namespace {

struct LabelledMatrix {
  io::MatrixFile matrix;
  std::vector<std::int64_t> labels;  ///< one per row; empty when no column was named
  std::vector<std::string> names;    ///< label i stands for the word names[i]; empty when labels were numbers
};

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

/// Reads a matrix and takes the labels out of it. `column` is empty (no labels), a column number (from -1 at
/// the end), or a name in the first line of a csv file or among the attributes of an arff file. Words become
/// numbers: in a csv file their positions in alphabetical order, in an arff file those in the attribute's
/// list.
/// @throws Error(invalid_argument) when there is no such column, Error(bad_input) when it holds no integers.
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

struct ConvertOptions {
  std::string input, output, object = "matrix";
  std::string labels_column;
  Storage storage = Storage::as_it_is;
  std::optional<DType> dtype;
  int compress = 0;
  io::ReadOptions read;
  app::CommonOptions common;
};

bool parse_convert(app::Arguments arguments, ConvertOptions& target) {
  app::Options options(
      {"tsdata convert",
       "Turns a matrix in any readable file (HDF5 in many layouts, .mtx, .mtx.gz, .npy, .npz, .csv, .arff) into "
       "HDF5, sparse ones as Binsparse, dense ones as a dataset; or a dense one into .npy or .csv.",
       "INPUT[:/OBJECT] OUTPUT.h5|.npy|.csv [options]",
       {{"A matrix of the SuiteSparse collection", "tsdata convert bcsstk18.mtx.gz bcsstk18.h5"},
        {"A table with a column of class names", "tsdata convert iris.arff iris.h5 --labels-column class"},
        {"One layer of an AnnData file, in half precision", "tsdata convert a.h5ad:/obsm/X_pca pca.h5 --dtype float16"},
        {"Eigenvectors for a spreadsheet", "tsdata convert pairs.h5:/eigenvectors vectors.csv"}},
       ""});
  options.positional("INPUT", target.input, "a file, or FILE.h5:/OBJECT for one object in it")
      .positional("OUTPUT", target.output, "the file to write: HDF5, .npy or .csv");
  options.group("Reading");
  app::add_read_options(options, target.read);
  app::add_rows_option(options, target.read);
  options.custom("labels-column", "COLUMN", {},
                 "store this column of a table as /labels instead: its number from 0 (from -1 at the end), or its "
                 "name in a csv or arff file",
                 "a column", [&target](std::string_view text) { return app::parse_value(text, target.labels_column); });
  app::add_reading_memory_option(options, target.read);
  app::add_table_options(options.group("Tables"), target.read);
  options.group("Writing")
      .custom("object", "NAME", target.object, "name of the matrix in the output", "a name",
              [&target](std::string_view text) {
                if (text.starts_with('/')) text.remove_prefix(1);
                return app::parse_value(text, target.object) && !text.empty();
              })
      .choice("storage", target.storage, "keep the storage of the input, or convert it",
              {{"auto", Storage::as_it_is}, {"dense", Storage::dense}, {"sparse", Storage::sparse}});
  add_dtype_option(options, target.dtype, "element type of the output (default: that of the input)");
  options.value("compress", "LEVEL", target.compress, "gzip level, 0 to 9", app::between(0, 9));
  app::add_report_options(options.group("Output"), target.common);
  if (!options.parse(arguments)) return false;
  if (io::is_table_name(target.output))
    for (const char* name : {"labels-column", "object", "compress"})
      if (options.given(name))
        throw Error(Errc::invalid_argument,
                    std::string("--") + name + " is for HDF5, and " + target.output + " is not: end the name with .h5");
  return true;
}

WrittenMatrix write_h5(const ConvertOptions& options, const LabelledMatrix& input, const AnyMatrix& matrix,
                       const io::Location& where, app::Console& console) {
  io::OutputFile out(options.output, {.gzip = options.compress});
  const bool whole =
      std::holds_alternative<io::DenseMatrix>(matrix) || options.read.row_begin != 0 || options.read.row_end >= 0;
  const WrittenMatrix written =
      write_matrix(out, options.object, matrix, whole ? io::Structure::general : input.matrix.description.declared);
  if (!input.labels.empty()) out.write("labels", std::span<const std::int64_t>(input.labels));
  if (!input.names.empty()) {
    std::string names;
    for (const std::string& name : input.names) names.append(names.empty() ? "" : ",").append(name);
    out.attribute("labels", "names", names);
  }
  out.attribute("/", "default_matrix", options.object);
  out.attribute("/", "source", where.file.filename().string());
  app::throw_if_stopped();
  out.commit();
  console.note("wrote " + out.contents());
  return written;
}

}  // namespace

int convert(app::Arguments arguments) {
  ConvertOptions options;
  if (!parse_convert(arguments, options)) return app::exit_ok;
  const io::Location where = io::parse_location(options.input);
  app::check_output_paths({{"OUTPUT", options.output}}, {options.input});
  if (const std::string ending = app::other_format(options.output);
      !ending.empty() && !io::is_table_name(options.output))
    throw Error(Errc::invalid_argument, "OUTPUT " + options.output + ": the output is HDF5, .npy or .csv, but " +
                                            ending + " names another format; end the name with .h5");
  app::Console console("tsdata", options.common.quiet);

  console.progress("reading " + where.text());
  LabelledMatrix input = read_labelled(where, options.read, options.labels_column);
  AnyMatrix matrix = stored_as(std::move(input.matrix.matrix), options.storage, where.text());
  if (options.dtype) matrix = converted_to(std::move(matrix), *options.dtype, where.text());

  app::throw_if_stopped();
  console.progress("writing " + options.output);
  const bool table = io::is_table_name(options.output);
  const WrittenMatrix written =
      table ? write_table(options.output, matrix, where.text()) : write_h5(options, input, matrix, where, console);
  if (table) console.note("wrote " + options.output);

  if (options.common.json) {
    app::JsonObject json = as_json(written, app::JsonObject::of_schema("tsdata-convert"));
    json.add("input", where.text()).add("file", options.output).add("object", table ? "" : options.object);
    json.add("labels", std::ssize(input.labels));
    app::add_missing(json, options.read, input.matrix.description);
    std::cout << json.text() << '\n';
  } else {
    std::cout << options.output << (table ? "" : ":/" + options.object) << ": " << as_text(written) << '\n';
    if (const std::string missing = app::missing_text(input.matrix.description); !missing.empty())
      std::cout << missing << '\n';
    if (!input.labels.empty()) std::cout << options.output << ":/labels: " << input.labels.size() << " labels\n";
  }
  return app::exit_ok;
}

}  // namespace ts::tsdata
