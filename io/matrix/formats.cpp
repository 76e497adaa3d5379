#include "tallskinny/io/formats.hpp"

#include <algorithm>
#include <limits>

#include "tallskinny/io/assembly.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/read_parts.hpp"

namespace ts::inline v0::io {

void set_dense(Description& d, index_t rows, index_t cols, DType type, const ReadOptions& options) {
  d.rows = options.transpose ? cols : rows;
  d.cols = options.transpose ? rows : cols;
  d.type = type;
  const std::uint64_t elements = product({rows, cols});
  d.nonzeros = static_cast<index_t>(std::min<std::uint64_t>(elements, std::numeric_limits<index_t>::max()));
  d.bytes = product({d.nonzeros, static_cast<index_t>(size_of(type))});
  d.peak_bytes = options.transpose ? sum({d.bytes, d.bytes}) : d.bytes;
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
