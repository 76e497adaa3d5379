#include "tallskinny/io/lines.hpp"

#include <algorithm>
#include <limits>

#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/pairs.hpp"
#include "tallskinny/io/read_parts.hpp"

namespace ts::inline v0::io {

template <class T>
CsrMatrix<T> assembled(const WholeLines& lines, const T* values, const Description& d, const ReadOptions& options) {
  const Subject subject{d.where.text(), false, options.accept_unsorted};
  check_pointers(lines.pointers, std::ssize(lines.minor), Subject{subject.name, lines.by_columns});
  Pairs<T> pairs(d.rows, d.cols, row_range(d.rows, options), Structure::general, subject,
                 [&](std::uint64_t bytes) { require_memory(bytes, options.memory_limit, subject.name); });
  const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
  const index_t across = lines.by_columns ? lines.rows : lines.cols;
  const bool turned = lines.by_columns != options.transpose;
  for (index_t line = 0; line + 1 < std::ssize(lines.pointers); ++line)
    for (index_t k = lines.pointers[at(line)]; k < lines.pointers[at(line + 1)]; ++k) {
      const index_t other = lines.minor[at(k)];
      if (other < 0 || other >= across)
        throw Error(Errc::bad_input, subject.name + " has an entry outside its shape in " +
                                         (lines.by_columns ? "column " : "row ") + std::to_string(line));
      turned ? pairs.add(other, line, values[k]) : pairs.add(line, other, values[k]);
    }
  auto a = std::move(pairs).assembled();
  if (options.check_finite) check_finite(a, Subject{subject.name, false, false, options.row_begin});
  return a;
}

void set_lines(Description& d, index_t rows, index_t cols, index_t entries, const ReadOptions& options) {
  d.sparse = true, d.nonzeros = entries;
  d.rows = options.transpose ? cols : rows, d.cols = options.transpose ? rows : cols;
  if (std::max(rows, cols) > std::numeric_limits<std::int32_t>::max())
    throw Error(Errc::bad_input,
                d.where.text() + " has more rows or columns than the 2^31 - 1 that sparse matrices can have");
  set_sparse_bytes(d, false, false, true);
  const index_t lists = 16 + static_cast<index_t>(size_of(d.type));  // beside the pairs
  d.peak_bytes = sum({d.peak_bytes, product({entries, lists}), product({std::max(rows, cols), 16})});
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, assembled)

}  // namespace ts::inline v0::io
