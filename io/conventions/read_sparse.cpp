// Sparse parts: lists of pointers, indices and values, in the order rows were promised or turned into it.
#include <algorithm>
#include <limits>
#include <span>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/parts.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/io/matrix/pairs.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

using Form = SparseParts::Form;

void require_integers(const hdf5::Node& list) {
  const auto type = list.element_type();
  if (type.kind != hdf5::ElementType::Kind::integer) list.refuse("holds " + type.text + " where integers are needed");
}

/// Elements begin .. end - 1 of a list; a list stored as one row of many columns is read whole.
template <class E>
void read_list(const hdf5::Node& list, index_t begin, index_t end, E* out) {
  const auto dims = dims_of(list);
  if (dims.size() == 1 || dims[0] != 1)
    return list.read(begin, end, hdf5::memory_type_of<E>,
                     std::as_writable_bytes(std::span(out, static_cast<std::size_t>(end - begin))));
  std::vector<E> whole(static_cast<std::size_t>(dims[1]));
  list.read(0, 1, hdf5::memory_type_of<E>, std::as_writable_bytes(std::span(whole)));
  std::copy(whole.begin() + begin, whole.begin() + end, out);
}

/// Pointers begin .. end - 1.
std::vector<index_t> read_pointers(const SparseParts& p, index_t begin, index_t end) {
  std::vector<index_t> pointers(static_cast<std::size_t>(end - begin));
  read_list(*p.pointers, begin, end, pointers.data());
  if (p.index_base == 0 || pointers.empty()) return pointers;
  index_t first = pointers.front();
  if (begin > 0) read_list(*p.pointers, 0, 1, &first);
  if (first == p.index_base)
    for (index_t& pointer : pointers) pointer -= p.index_base;
  return pointers;
}

template <class I>
std::vector<I> read_indices(const SparseParts& p, const hdf5::Node& list, index_t begin, index_t end) {
  std::vector<I> indices(static_cast<std::size_t>(end - begin));
  read_list(list, begin, end, indices.data());
  if (p.index_base != 0)
    for (I& index : indices) index -= index > std::numeric_limits<I>::min() ? static_cast<I>(p.index_base) : I{0};
  return indices;
}

template <class T>
std::vector<T> read_values(const SparseParts& p, index_t begin, index_t end) {
  std::vector<T> values(static_cast<std::size_t>(end - begin), T{1});
  if (!p.values.dataset || values.empty()) return values;
  const hdf5::Node& list = *p.values.dataset;
  if (p.values.one_for_all) {
    T value{};
    list.read(0, p.values.interleaved ? 2 : 1,
              p.values.interleaved ? hdf5::memory_type_of<real_t<T>> : hdf5::memory_type_of<T>,
              std::as_writable_bytes(std::span(&value, 1)));
    std::fill(values.begin(), values.end(), value);
  } else if (p.values.interleaved) {
    read_list(list, 2 * begin, 2 * end, reinterpret_cast<real_t<T>*>(values.data()));
  } else {
    read_list(list, begin, end, values.data());
  }
  return values;
}

/// Number of pairs to read at a time: whole chunks of the lists, as chunks are unpacked as a whole.
index_t pairs_at_a_time(const SparseParts& p, index_t entries) {
  constexpr index_t least = index_t{1} << 18;
  index_t piece = least;
  for (const auto* list : {&p.major, &p.minor, &p.values.dataset}) {
    if (!*list) continue;
    if (dims_of(**list).size() > 1) return std::max<index_t>(entries, 1);  // a row of many columns is read whole
    if (const index_t chunk = (*list)->chunk_rows(); chunk > 0)
      piece = std::max(piece, (least + chunk - 1) / chunk * chunk);
  }
  return piece;
}

/// Rows of `range`, with the mirror images of a triangle: all pairs pass by.
template <class T>
CsrMatrix<T> read_pairs(const SparseParts& p, index_t entries, RowRange range, const Subject& subject,
                        std::uint64_t memory_limit) {
  const auto& row_list = p.by_columns ? p.minor : p.major;
  const auto& col_list = p.by_columns ? p.major : p.minor;
  const bool whole = range.count() == p.rows;
  const index_t most = pairs_at_a_time(p, entries);
  const bool triangle = p.triangle != Triangle::none;
  std::uint64_t held = sum({product({range.count(), 16}), product({std::min(most, entries), 12 + sizeof(T)})});
  const auto hold = [&](std::uint64_t bytes) { require_memory(held = sum({held, bytes}), memory_limit, subject.name); };
  if (!whole) hold(0);
  Pairs<T> pairs(p.rows, p.cols, range, triangle ? p.structure : Structure::general, subject, hold);
  if (whole) pairs.reserve(triangle ? 2 * entries : entries);
  for (index_t begin = 0; begin < entries; begin += most) {
    const index_t end = std::min(entries, begin + most);
    std::vector<index_t> rows(static_cast<std::size_t>(end - begin));
    std::vector<std::int32_t> cols(rows.size());
    if (row_list) rows = read_indices<index_t>(p, *row_list, begin, end);
    if (col_list) cols = read_indices<std::int32_t>(p, *col_list, begin, end);
    const auto values = read_values<T>(p, begin, end);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (triangle) check_triangle_entry(rows[k], index_t{cols[k]}, values[k], p.structure, p.triangle, subject);
      pairs.add(rows[k], cols[k], values[k]);
    }
  }
  return std::move(pairs).assembled();
}

/// Pointers of all lines from those of the lines that have entries.
std::vector<index_t> expand_pointers(const SparseParts& p, const std::vector<index_t>& some, index_t lines,
                                     const Subject& subject) {
  const auto numbers = read_indices<index_t>(p, *p.major, 0, length_of(*p.major));
  std::vector<index_t> pointers(static_cast<std::size_t>(lines) + 1, 0);
  index_t previous = -1;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const index_t line = numbers[k];
    if (line <= previous || line >= lines)
      refuse(subject.name, joined("lists line ", line, " after line ", previous, " of ", lines,
                                  "; indices_0 must increase and stay in range"));
    std::fill(pointers.begin() + previous + 1, pointers.begin() + line + 1, some[k]);
    previous = line;
  }
  std::fill(pointers.begin() + previous + 1, pointers.end(), some.back());
  return pointers;
}

/// Compressed lines as they are stored: rows of the matrix, or of its transpose when stored by columns.
/// Reads only the lines of `range`.
template <class T>
CsrMatrix<T> read_lines(const SparseParts& p, index_t entries, RowRange range, const Subject& subject,
                        std::uint64_t memory_limit) {
  const index_t count = p.by_columns ? p.cols : p.rows;
  const auto require = [&](index_t stored) {
    if (range.count() == count) return;  // what all take was looked at before
    const auto entry = static_cast<index_t>(sizeof(T) + sizeof(std::int32_t));
    require_memory(sum({product({range.count() + 1, 8}), product({stored, entry})}), memory_limit, subject.name);
  };
  CsrMatrix<T> lines;
  lines.cols = p.by_columns ? p.rows : p.cols;
  require(0);
  if (p.form == Form::compressed_nonempty) {
    const auto some = read_pointers(p, 0, length_of(*p.pointers));
    Subject whole = subject;
    whole.first_line = 0;
    check_pointers(some, entries, whole);
    lines.pointers = expand_pointers(p, some, count, subject);
    lines.pointers = {lines.pointers.begin() + range.begin, lines.pointers.begin() + range.end + 1};
  } else {
    lines.pointers = read_pointers(p, range.begin, range.end + 1);
    check_pointers(lines.pointers, entries, subject, count);
  }
  const index_t first = lines.pointers.front(), last = lines.pointers.back();
  require(last - first);
  for (index_t& pointer : lines.pointers) pointer -= first;
  lines.rows = range.count();
  if (p.minor) lines.indices = read_indices<std::int32_t>(p, *p.minor, first, last);
  lines.values = read_values<T>(p, first, last);
  check_lines(lines, subject);
  return lines;
}

bool lines_as_stored(const Description& d, const ReadOptions& options) {
  return options.as_stored && (d.stored_triangle || d.stored_by_columns);
}

template <class T>
CsrMatrix<T> read_as(const SparseParts& p, const Description& d, const std::string& name, const ReadOptions& options) {
  Subject subject{name, p.by_columns, options.accept_unsorted};
  const RowRange range = row_range(p.rows, options);
  const bool as_stored = lines_as_stored(d, options);
  const bool by_range = as_stored || (!p.by_columns && p.triangle == Triangle::none);
  CsrMatrix<T> a;
  if (p.form == Form::pairs) {
    subject.first_line = range.begin, subject.by_columns = false;
    a = read_pairs<T>(p, d.nonzeros, range, subject, options.memory_limit);
  } else if (by_range) {
    subject.first_line = range.begin;
    a = read_lines<T>(p, d.nonzeros, range, subject, options.memory_limit);
  } else {
    a = read_lines<T>(p, d.nonzeros, {0, p.by_columns ? p.cols : p.rows}, subject, options.memory_limit);
    if (p.by_columns) a = transposed(std::move(a)), subject.by_columns = false;
  }
  if (options.check_finite) check_finite(a, subject);
  if (as_stored && p.triangle != Triangle::none)
    check_triangle(a, p.structure, p.triangle, subject);
  else if (p.form != Form::pairs)
    a = mirrored(std::move(a), p.structure, p.triangle, subject);
  return a.rows == range.count() ? std::move(a) : row_slice(std::move(a), range.begin, range.end);
}

}  // namespace

bool reads_by_range(const SparseParts& p, const Description& d, const ReadOptions& options) {
  if (row_range(p.rows, options).count() == p.rows) return false;
  return p.form == Form::pairs || lines_as_stored(d, options) || (!p.by_columns && p.triangle == Triangle::none);
}

index_t check_sparse_lengths(const SparseParts& p, const hdf5::Node& object) {
  const auto differ = [&](const hdf5::Node& list, index_t has, index_t needs, const char* why) {
    list.refuse(joined("has ", has, " entries instead of ", needs, " (", why, ")"));
  };
  for (const auto* list : {&p.pointers, &p.major, &p.minor})
    if (*list) require_integers(**list);
  const auto& entry_list = p.minor ? p.minor : (p.form == Form::pairs ? p.major : p.minor);
  const index_t entries = entry_list ? length_of(*entry_list) : 0;
  if (p.form == Form::pairs && p.major && p.minor && length_of(*p.major) != entries)
    differ(*p.major, length_of(*p.major), entries, "one for each entry");
  if (p.values.dataset) {
    const index_t per_value = p.values.interleaved ? 2 : 1;
    const index_t has = length_of(*p.values.dataset);
    const index_t needs = p.values.one_for_all ? per_value : per_value * entries;
    if (has != needs) differ(*p.values.dataset, has, needs, "as many as there are indices");
  }
  if (p.pointers) {
    index_t lines = p.by_columns ? p.cols : p.rows;
    if (p.form == Form::compressed_nonempty) lines = length_of(*p.major);
    if (length_of(*p.pointers) - 1 != lines)
      differ(*p.pointers, length_of(*p.pointers), lines + 1,
             p.by_columns ? "one more than columns" : "one more than rows");
  }
  if (p.announced_nonzeros && *p.announced_nonzeros != entries)
    object.refuse(joined("announces ", *p.announced_nonzeros, " stored values, but has ", entries));
  return entries;
}

SparseMatrix read_sparse_parts(const SparseParts& parts, const Description& d, const std::string& name,
                               const ReadOptions& options) {
  return by_type(d.type, [&]<class T>(std::type_identity<T>) -> SparseMatrix {
    return read_as<result_t<T>>(parts, d, name, options);
  });
}

}  // namespace ts::inline v0::io
