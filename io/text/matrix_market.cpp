// Matrix Market exchange format. https://math.nist.gov/MatrixMarket/formats.html
#include <limits>
#include <system_error>

#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/matrix/pairs.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/text/line_reader.hpp"

namespace ts::inline v0::io {

namespace {

enum class Field { real, integer, complex, pattern };

struct MarketHeader {
  bool sparse = true;
  Field field = Field::real;
  Structure structure = Structure::general;
  index_t rows = 0, cols = 0, entries = 0;
};

Field parse_field(const LineReader& in, const std::string& word, bool sparse) {
  if (word == "real") return Field::real;
  if (word == "integer") return Field::integer;
  if (word == "complex") return Field::complex;
  if (word == "pattern" && sparse) return Field::pattern;
  in.refuse("has the field '" + word + "'; Matrix Market knows real, integer, complex and, for coordinate, pattern");
}

Structure parse_structure(const LineReader& in, const std::string& word) {
  if (word == "general") return Structure::general;
  if (word == "symmetric") return Structure::symmetric;
  if (word == "skew-symmetric") return Structure::skew_symmetric;
  if (word == "hermitian") return Structure::hermitian;
  in.refuse("has the symmetry '" + word + "'; Matrix Market knows general, symmetric, skew-symmetric and hermitian");
}

/// The triangle that an array file stores: entries of a column-major lower triangle.
index_t array_entries(const MarketHeader& h) {
  if (h.structure == Structure::general) {
    const auto all = product({h.rows, h.cols});
    return all > static_cast<std::uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<index_t>(all);
  }
  const auto twice = product({h.rows, h.structure == Structure::skew_symmetric ? h.rows - 1 : h.rows + 1});
  return static_cast<index_t>(twice / 2);
}

MarketHeader parse_market_header(LineReader& in) {
  const auto banner = in.next();
  if (!banner) in.refuse("the file is empty");
  std::string_view rest = *banner;
  const std::string first = lower_case(next_word(rest));
  if (first != "%%matrixmarket") in.refuse("the first line must start with '%%MatrixMarket'");
  MarketHeader h;
  const std::string object = lower_case(next_word(rest)), form = lower_case(next_word(rest));
  if (object != "matrix") in.refuse("holds a '" + object + "', not a matrix");
  if (form != "coordinate" && form != "array")
    in.refuse("has the format '" + form + "'; coordinate and array are known");
  h.sparse = form == "coordinate";
  h.field = parse_field(in, lower_case(next_word(rest)), h.sparse);
  h.structure = parse_structure(in, lower_case(next_word(rest)));
  if (h.structure == Structure::hermitian && h.field != Field::complex) h.structure = Structure::symmetric;

  const auto sizes = in.next_content('%');
  if (!sizes) in.refuse("the file ends before the line with its sizes");
  rest = *sizes;
  const auto rows = to_integer(next_word(rest)), cols = to_integer(next_word(rest));
  const auto entries = h.sparse ? to_integer(next_word(rest)) : std::optional<index_t>(0);
  if (!rows || !cols || !entries || !trimmed(rest).empty())
    in.refuse(h.sparse ? "a coordinate matrix needs three sizes here: rows, columns, entries"
                       : "an array needs two sizes here: rows, columns");
  h.rows = *rows, h.cols = *cols, h.entries = *entries;
  if (h.rows < 0 || h.cols < 0 || h.entries < 0) in.refuse("has a negative size");
  if (h.structure != Structure::general && h.rows != h.cols)
    in.refuse(joined("declares a ", name_of(h.structure), " matrix of ", h.rows, " rows and ", h.cols, " columns"));
  if (!h.sparse) h.entries = array_entries(h);
  return h;
}

/// An entry takes at least 4 characters ("1 1\n"; 2 in an array), and gzip compresses no better than
/// best_deflate. A size line that promises more than the file can hold is refused before memory is taken for
/// it.
void require_plausible(const MarketHeader& h, const std::filesystem::path& file) {
  std::error_code failed;
  const auto bytes = static_cast<double>(std::filesystem::file_size(file, failed));
  if (!failed && static_cast<double>(h.entries) > 1 + bytes * best_deflate / (h.sparse ? 4 : 2))
    refuse(file, joined("declares ", h.entries, " entries, more than a file of its size can hold"));
}

Description description_of(const MarketHeader& h, const Location& where, const ReadOptions& options) {
  require_plausible(h, where.file);
  Description d;
  d.where = {where.file, ""};
  d.convention = "Matrix Market";
  d.declared = h.structure;
  const char* fields[] = {"real", "integer", "complex", "pattern"};
  d.stored_type = fields[static_cast<int>(h.field)];
  d.type = h.field == Field::complex ? DType::complex128 : DType::float64;
  d.rows = options.transpose ? h.cols : h.rows;
  d.cols = options.transpose ? h.rows : h.cols;
  if (!h.sparse) {
    set_dense(d, h.rows, h.cols, d.type, options);
    return d;
  }
  d.sparse = true;
  d.nonzeros = h.entries;
  if (d.cols > std::numeric_limits<std::int32_t>::max())
    refuse(where.file, joined("has ", d.cols, " columns; sparse matrices can have 2^31 - 1"));
  set_sparse_bytes(d, h.structure != Structure::general, false, true);
  return d;
}

template <class T>
T parse_value(const LineReader& in, std::string_view& rest) {
  const auto re = to_number(next_word(rest));
  if (!re) in.refuse("a number is missing or cannot be read");
  if constexpr (is_complex<T>) {
    const auto im = to_number(next_word(rest));
    if (!im) in.refuse("the imaginary part is missing or cannot be read");
    return {*re, *im};
  } else {
    return *re;
  }
}

/// The rows that options choose; all entries pass by.
template <class T>
CsrMatrix<T> read_entries(LineReader& in, const MarketHeader& h, const std::string& name, const ReadOptions& options) {
  const bool mirrored = h.structure != Structure::general;
  const index_t rows = options.transpose ? h.cols : h.rows, cols = options.transpose ? h.rows : h.cols;
  const RowRange range = row_range(rows, options);
  Pairs<T> pairs(rows, cols, range, h.structure, Subject{name, false, options.accept_unsorted},
                 [&in](std::uint64_t bytes) { in.hold(bytes); });
  if (range.count() == rows)
    pairs.reserve(mirrored ? 2 * h.entries : h.entries);
  else
    in.hold(product({range.count(), 16}));
  for (index_t k = 0; k < h.entries; ++k) {
    const auto line = in.next_content('%');
    if (!line) in.refuse(joined("the file ends after ", k, " of ", h.entries, " entries"));
    std::string_view rest = *line;
    const auto row = to_integer(next_word(rest)), col = to_integer(next_word(rest));
    if (!row || !col) in.refuse("a row and a column number are needed");
    if (*row < 1 || *row > h.rows) in.refuse(joined("row ", *row, " is outside 1..", h.rows));
    if (*col < 1 || *col > h.cols) in.refuse(joined("column ", *col, " is outside 1..", h.cols));
    const T value = h.field == Field::pattern ? T{1} : parse_value<T>(in, rest);
    if (!trimmed(rest).empty()) in.refuse(joined("has more than an entry: '", trimmed(rest), "'"));
    if (mirrored && *row == *col && !fits_diagonal(value, h.structure) && value == value)
      in.refuse(h.structure == Structure::hermitian
                    ? "the matrix is declared hermitian, but this diagonal entry is not real"
                    : "the matrix is declared skew-symmetric, but this diagonal entry is not zero");
    options.transpose ? pairs.add(*col - 1, *row - 1, value) : pairs.add(*row - 1, *col - 1, value);
  }
  if (in.next_content('%')) in.refuse(joined("follows the ", h.entries, " entries that it declares"));
  return std::move(pairs).assembled();
}

/// The rows that options choose of an array, which stands in the file by columns; of a triangle those below.
template <class T>
Matrix<T> read_array(LineReader& in, const MarketHeader& h, const ReadOptions& options) {
  const RowRange range = row_range(options.transpose ? h.cols : h.rows, options);
  auto a = Matrix<T>::zeros(range.count(), options.transpose ? h.rows : h.cols);
  const auto put = [&](index_t i, index_t j, T value) {
    if (options.transpose) std::swap(i, j);
    if (i >= range.begin && i < range.end) a(i - range.begin, j) = value;
  };
  std::string_view rest;
  const auto next_value = [&] {
    while (trimmed(rest).empty()) {
      const auto line = in.next_content('%');
      if (!line) in.refuse(joined("the file ends before all ", h.entries, " numbers"));
      rest = *line;
    }
    return parse_value<T>(in, rest);
  };
  for (index_t j = 0; j < h.cols; ++j) {
    const index_t first = h.structure == Structure::general ? 0 : h.structure == Structure::skew_symmetric ? j + 1 : j;
    for (index_t i = first; i < h.rows; ++i) {
      const T value = next_value();
      put(i, j, value);
      if (h.structure == Structure::general) continue;
      if (i == j && !fits_diagonal(value, h.structure) && value == value)
        in.refuse("the matrix is declared hermitian, but this diagonal entry is not real");
      put(j, i, mirror_image(value, h.structure));
    }
  }
  if (!trimmed(rest).empty() || in.next_content('%')) in.refuse("has more numbers than its sizes declare");
  return a;
}

template <class T>
std::variant<SparseMatrix, DenseMatrix> read_any_matrix(LineReader& in, const MarketHeader& h, const std::string& name,
                                                        const ReadOptions& options) {
  if (!h.sparse) {
    auto a = read_array<T>(in, h, options);
    if (options.check_finite) check_finite(a.cview(), options.row_begin, name);
    return DenseMatrix(std::move(a));
  }
  auto a = read_entries<T>(in, h, name, options);
  if (options.check_finite) check_finite(a, Subject{name, false, false, options.row_begin});
  return SparseMatrix(std::move(a));
}

Description describe_matrix_market(const Location& where, const ReadOptions& options) {
  LineReader in(where.file, options.memory_limit);
  return description_of(parse_market_header(in), where, options);
}

MatrixFile read_matrix_market(const Location& where, const ReadOptions& options) {
  LineReader in(where.file, options.memory_limit);
  const MarketHeader h = parse_market_header(in);
  MatrixFile result{description_of(h, where, options), {}};
  const std::string name = where.file.string();
  const Description& d = result.description;
  const RowRange range = row_range(d.rows, options);
  if (!h.sparse)
    in.hold(product({range.count(), d.cols, static_cast<index_t>(size_of(d.type))}));
  else if (range.count() == d.rows)
    in.hold(d.peak_bytes);
  result.matrix = h.field == Field::complex ? read_any_matrix<std::complex<double>>(in, h, name, options)
                                            : read_any_matrix<double>(in, h, name, options);
  return result;
}

}  // namespace

const Format formats::mtx = {.name = "mtx",
                             .matches =
                                 [](const std::string& name, std::string_view start) {
                                   return start.starts_with("%%MatrixMarket") || has_ending(name, {".mtx", ".mm"});
                                 },
                             .describe = describe_matrix_market,
                             .read = read_matrix_market};

}  // namespace ts::inline v0::io
