// Dense parts: the dataset is read in slabs of some MB, so that checks and transposition find it in cache.
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/io/conventions/chunk_reader.hpp"
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/parts.hpp"
#include "tallskinny/io/hdf5/node.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

constexpr index_t slab_bytes = index_t{4} << 20;

/// Stored lines (rows, or columns when transposed) per slab: whole rows of chunks, so that no chunk is
/// decompressed twice.
index_t lines_per_slab(const DenseParts& p, index_t line_bytes) {
  index_t lines = std::max<index_t>(1, slab_bytes / std::max<index_t>(1, line_bytes));
  if (p.transposed) lines = std::max<index_t>(lines, 16);
  const index_t chunk = p.values.dataset->chunk_rows();
  if (chunk > 0 && !p.flat) lines = (lines + chunk - 1) / chunk * chunk;
  return lines;
}

/// Stored lines begin .. end - 1, each of `length` elements.
template <class T>
void read_stored_lines(const DenseParts& p, index_t begin, index_t end, index_t length, T* out) {
  const hdf5::Node& dataset = *p.values.dataset;
  const index_t step = p.flat ? length : 1;  // a flat dataset counts elements, any other counts lines
  const auto bytes = std::as_writable_bytes(std::span(out, static_cast<std::size_t>((end - begin) * length)));
  if (p.values.interleaved)
    dataset.read(2 * step * begin, 2 * step * end, hdf5::memory_type_of<real_t<T>>, bytes);
  else
    dataset.read(step * begin, step * end, hdf5::memory_type_of<T>, bytes, p.values.member);
}

/// Rows of `range` to `out`, slab by slab; `read` as read_stored_lines.
template <class T, class Read>
void read_slabs(const DenseParts& p, RowRange range, const std::string& name, bool finite, T* out, const Read& read) {
  const index_t slab = lines_per_slab(p, p.cols * static_cast<index_t>(sizeof(T)));
  for (index_t begin = range.begin; begin < range.end;) {
    // Slabs end where chunks end, wherever the range begins.
    const index_t end = std::min(range.end, (begin / slab + 1) * slab);
    T* to = out + (begin - range.begin) * p.cols;
    read(begin, end, to);
    if (finite) check_finite(HostView<const T>::unchecked(to, end - begin, p.cols, p.cols), begin, name);
    begin = end;
  }
}

/// Reads rows on several threads, each a part of them. The first failure in row order is the one thrown.
template <class T>
void read_raw(const hdf5::RawElements& raw, const DenseParts& p, RowRange range, const std::string& name, bool finite,
              T* out) {
  constexpr index_t worth_a_thread = 2 * slab_bytes, most_threads = 8;
  const index_t row_bytes = p.cols * static_cast<index_t>(sizeof(T));
  const index_t most = std::min<index_t>(most_threads, default_threads());
  const index_t team = std::clamp<index_t>(range.count() * row_bytes / worth_a_thread, 1, most);
  parallel_ranges(static_cast<int>(team), range.count(), [&](index_t first, index_t last) {
    const RowRange mine{range.begin + first, range.begin + last};
    read_slabs(p, mine, name, finite, out + (mine.begin - range.begin) * p.cols,
               [&](index_t begin, index_t end, T* to) {
                 raw.read(static_cast<std::uint64_t>(begin * row_bytes),
                          static_cast<std::uint64_t>((end - begin) * row_bytes), to);
               });
  });
}

template <class T>
void read_by_rows(const DenseParts& p, RowRange range, const std::string& name, bool finite, T* out) {
  if (!p.values.dataset || range.count() == 0 || p.cols == 0) return;
  const hdf5::MemoryType memory = p.values.interleaved ? hdf5::memory_type_of<real_t<T>> : hdf5::memory_type_of<T>;
  if (p.values.one_for_all) {
    T value{};
    p.values.dataset->read(0, p.values.interleaved ? 2 : 1, memory, std::as_writable_bytes(std::span(&value, 1)));
    std::fill_n(out, range.count() * p.cols, value);
    if (finite) check_finite(HostView<const T>::unchecked(out, range.count(), p.cols, p.cols), 0, name);
    return;
  }
  if (p.values.member.empty())
    if (const auto raw = hdf5::RawElements::of(*p.values.dataset, memory)) {
      read_raw(*raw, p, range, name, finite, out);
      return;
    }
  if (p.values.member.empty() && !p.flat && !p.values.interleaved)
    if (const auto chunks = ChunkReader::of(*p.values.dataset, memory)) {
      chunks->read(range.begin, range.end, p.cols, out, [&](index_t begin, index_t end, char* rows) {
        if (finite)
          check_finite(HostView<const T>::unchecked(reinterpret_cast<const T*>(rows), end - begin, p.cols, p.cols),
                       begin, name);
      });
      return;
    }
  read_slabs(p, range, name, finite, out,
             [&](index_t begin, index_t end, T* to) { read_stored_lines(p, begin, end, p.cols, to); });
}

template <class T>
Matrix<T> read_by_columns(const DenseParts& p, RowRange range) {
  Matrix<T> a(range.count(), p.cols);
  const index_t slab = std::min(p.cols, lines_per_slab(p, p.rows * static_cast<index_t>(sizeof(T))));
  Matrix<T> lines(slab, p.rows);
  constexpr index_t tile = 64;
  for (index_t begin = 0; begin < p.cols; begin += slab) {
    const index_t end = std::min(p.cols, begin + slab);
    read_stored_lines(p, begin, end, p.rows, lines.data());
    for (index_t ib = range.begin; ib < range.end; ib += tile)
      for (index_t j = begin; j < end; ++j) {
        const T* column = lines.data() + (j - begin) * p.rows;
        for (index_t i = ib; i < std::min(range.end, ib + tile); ++i)
          a.data()[(i - range.begin) * p.cols + j] = column[i];
      }
  }
  return a;
}

/// Rows of `range` as they become while lines of a triangle pass by. The other triangle of the file may hold zeros or
/// its right values.
template <class T>
class RowsOfTriangle {
 public:
  RowsOfTriangle(const DenseParts& p, RowRange range, bool by_columns, const std::string& name)
      : p_(p),
        range_(range),
        lower_(p.triangle == Triangle::lower),
        stands_first_(lower_ != by_columns),
        name_(name),
        rows_(Matrix<T>::zeros(range.count(), p.cols)) {}

  void add(index_t i, index_t j, T x) {
    if (i == j) {
      if (!here(i)) return;
      if (!fits_diagonal(x, p_.structure) && x == x)
        refuse(joined("its diagonal entry at row ", i,
                      p_.structure == Structure::hermitian ? " is not real" : " is not zero"));
      element(i, j) = x;
    } else if (lower_ == (i > j)) {
      if (here(i)) element(i, j) = x;
      if (!here(j)) return;
      const T image = mirror_image(x, p_.structure);
      if (stands_first_) compare(j, i, element(j, i), image);
      element(j, i) = image;
    } else if (here(i)) {
      if (!stands_first_) return compare(i, j, x, element(i, j));
      element(i, j) = x;
    }
  }
  [[nodiscard]] Matrix<T> rows() && { return std::move(rows_); }

 private:
  [[nodiscard]] bool here(index_t row) const { return row >= range_.begin && row < range_.end; }
  [[nodiscard]] T& element(index_t i, index_t j) { return rows_(i - range_.begin, j); }
  /// Refuses an entry of the other triangle that is neither zero nor the mirror image.
  void compare(index_t i, index_t j, T has, T image) const {
    if (has != T{} && has != image)
      refuse(joined("its entries at (", std::max(i, j), ", ", std::min(i, j), ") and (", std::min(i, j), ", ",
                    std::max(i, j), ") do not mirror each other"));
  }
  [[noreturn]] void refuse(const std::string& cause) const {
    io::refuse(name_, joined("is declared ", name_of(p_.structure), ", but ", cause));
  }

  const DenseParts& p_;
  RowRange range_;
  bool lower_;
  bool stands_first_;  ///< lines bring what the file has in the other triangle before they bring what belongs there
  const std::string& name_;
  Matrix<T> rows_;
};

template <class T>
Matrix<T> read_triangle(const DenseParts& p, RowRange range, const std::string& name) {
  if constexpr (sizeof(T) == 2) {
    refuse(name, "stores a triangle of 16-bit floats; store it as float32");
  } else {
    const bool by_columns = p.transposed && !p.values.one_for_all && p.values.dataset;
    RowsOfTriangle<T> some(p, range, by_columns, name);
    if (!p.values.dataset) return std::move(some).rows();
    const index_t n = p.rows, slab = std::min(n, lines_per_slab(p, n * static_cast<index_t>(sizeof(T))));
    Matrix<T> lines(slab, n);
    for (index_t begin = 0; begin < n; begin += slab) {
      const index_t end = std::min(n, begin + slab);
      if (by_columns)
        read_stored_lines(p, begin, end, n, lines.data());
      else
        read_by_rows(p, {begin, end}, name, false, lines.data());
      for (index_t line = begin; line < end; ++line)
        for (index_t k = 0; k < n; ++k)
          by_columns ? some.add(k, line, lines(line - begin, k)) : some.add(line, k, lines(line - begin, k));
    }
    return std::move(some).rows();
  }
}

template <class T>
Matrix<T> read_as(const DenseParts& p, const std::string& name, const ReadOptions& options) {
  const RowRange range = row_range(p.rows, options);
  const bool triangle = p.triangle != Triangle::none;
  const bool by_columns = p.transposed && !p.values.one_for_all && p.values.dataset && range.count() > 0 && p.cols > 0;
  Matrix<T> a;
  if (triangle) {
    a = read_triangle<T>(p, range, name);
  } else if (by_columns) {
    a = read_by_columns<T>(p, range);
  } else {
    a = Matrix<T>(range.count(), p.cols);
    read_by_rows(p, range, name, options.check_finite, a.data());
  }
  if (options.check_finite && (by_columns || triangle)) check_finite(a.cview(), range.begin, name);
  return a;
}

}  // namespace

void check_dense_lengths(const DenseParts& p, const hdf5::Node& object) {
  if (!p.values.dataset || p.values.member.size() > 0) return;
  const auto dims = dims_of(*p.values.dataset);
  index_t has = 1;
  for (const index_t size : dims)
    if (__builtin_mul_overflow(has, size, &has)) object.refuse("has an impossible shape: more than 2^63 elements");
  index_t needs = p.values.interleaved ? 2 : 1;
  if (!p.values.one_for_all &&
      (__builtin_mul_overflow(needs, p.rows, &needs) || __builtin_mul_overflow(needs, p.cols, &needs)))
    object.refuse("has an impossible shape: more than 2^63 elements");
  if (has != needs)
    p.values.dataset->refuse(joined("has ", has, " elements; a matrix of ", p.rows, " x ", p.cols, " needs ", needs));
  if (p.flat && dims.size() != 1) p.values.dataset->refuse("is not a one-dimensional list of elements");
}

DenseMatrix read_dense_parts(const DenseParts& parts, const Description& d, const std::string& name,
                             const ReadOptions& options) {
  return by_type(d.type,
                 [&]<class T>(std::type_identity<T>) -> DenseMatrix { return read_as<T>(parts, name, options); });
}

void read_dense_rows(const DenseParts& parts, DType type, RowRange range, const std::string& name, bool finite,
                     void* out) {
  expects(!parts.transposed && parts.triangle == Triangle::none, "rows are read of what is stored by rows");
  by_type(type,
          [&]<class T>(std::type_identity<T>) { read_by_rows(parts, range, name, finite, static_cast<T*>(out)); });
}

}  // namespace ts::inline v0::io
