
#include <algorithm>
#include <limits>

#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

bool has_ending(const std::string& name, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* e) { return name.ends_with(e) || name.ends_with(std::string(e) + ".gz"); });
}

RowRange row_range(index_t rows, const ReadOptions& options) {
  const RowRange range{options.row_begin, options.row_end < 0 ? rows : options.row_end};
  if (range.begin < 0 || range.begin > range.end || range.end > rows)
    throw Error(Errc::invalid_argument,
                joined("rows ", range.begin, ":", range.end, " are asked for, but the matrix has ", rows));
  return range;
}

void set_sparse_bytes(Description& d, bool mirrored, bool turned, bool from_pairs) {
  const auto element = static_cast<index_t>(size_of(d.type));
  const auto of = [&](index_t lines, index_t entries) {
    return sum({product({lines, 8}), 8, product({entries, 4 + element})});
  };
  const index_t full = mirrored && d.nonzeros < std::numeric_limits<index_t>::max() / 2 ? 2 * d.nonzeros : d.nonzeros;
  d.bytes = of(d.rows, full);
  d.peak_bytes = d.bytes;
  if (mirrored || turned)
    d.peak_bytes = sum({d.peak_bytes, of(turned ? d.cols : d.rows, d.nonzeros), product({d.rows, 8})});
  if (from_pairs) d.peak_bytes = sum({d.peak_bytes, product({full, 12 + element}), product({d.rows, 8})});
}

void set_dense(Description& d, index_t rows, index_t cols, DType type, const ReadOptions& options) {
  d.rows = options.transpose ? cols : rows;
  d.cols = options.transpose ? rows : cols;
  d.type = type;
  const std::uint64_t elements = product({rows, cols});
  d.nonzeros = static_cast<index_t>(std::min<std::uint64_t>(elements, std::numeric_limits<index_t>::max()));
  d.bytes = product({d.nonzeros, static_cast<index_t>(size_of(type))});
  d.peak_bytes = options.transpose ? sum({d.bytes, d.bytes}) : d.bytes;
}

void set_sparse(Description& d, index_t rows, index_t cols, index_t entries, const ReadOptions& options) {
  d.sparse = true, d.nonzeros = entries;
  d.rows = options.transpose ? cols : rows, d.cols = options.transpose ? rows : cols;
  if (std::max(rows, cols) > std::numeric_limits<std::int32_t>::max())
    refuse(d.where.text(), "has more rows or columns than the 2^31 - 1 that sparse matrices can have");
  set_sparse_bytes(d, false, false, true);
}

Description unreadable(Location where, std::string convention, std::string problem) {
  Description d;
  d.where = std::move(where), d.convention = std::move(convention), d.problem = std::move(problem);
  return d;
}

RowRange rows_in_file(index_t rows, const ReadOptions& options) {
  return options.transpose ? RowRange{0, rows} : row_range(rows, options);
}

std::uint64_t bytes_of_rows(const Description& d, RowRange rows, const ReadOptions& options) {
  if (options.transpose) return d.peak_bytes;
  return product({rows.count(), d.cols, static_cast<index_t>(size_of(d.type))});
}

template <class T>
DenseMatrix finished(Matrix<T> a, const ReadOptions& options, const std::string& name) {
  if (options.transpose) {
    const RowRange range = row_range(a.cols(), options);
    a = Matrix<T>::copy_of(a.cview().transposed().rows(range.begin, range.count()));
  }
  if (options.check_finite) check_finite(a.cview(), options.row_begin, name);
  return a;
}

TS_FOR_EACH_TYPE(TS_FUNCTION, finished)

}  // namespace ts::inline v0::io
