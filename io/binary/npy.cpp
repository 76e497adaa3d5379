// NumPy's .npy: a header in Python's notation, then the elements.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"
#include "tallskinny/io/binary/npy.hpp"
#include "tallskinny/io/elements.hpp"
#include "tallskinny/io/file_bytes.hpp"
#include "tallskinny/io/matrix/assembly.hpp"
#include "tallskinny/io/matrix/format.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

/// The text after 'key': in the header's dictionary.
std::string_view after_key(const std::string& name, std::string_view text, const std::string& key) {
  auto at = text.find("'" + key + "'");
  if (at != std::string_view::npos) at = text.find(':', at);
  if (at == std::string_view::npos) refuse(name, "has an npy header without '" + key + "'");
  text.remove_prefix(at + 1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

void parse_type(const std::string& name, std::string_view text, NpyHeader& h) {
  if (text.starts_with('[')) refuse(name, "holds records with named fields, not numbers");
  const auto close = text.size() < 2 ? std::string_view::npos : text.find('\'', 1);
  if (close == std::string_view::npos || close < 4) refuse(name, "has an npy header with an unknown type");
  const std::string_view type = text.substr(1, close - 1);
  h.swapped = type[0] == '>';
  h.kind = type[1];
  h.bytes = type.size() == 3 ? type[2] - '0' : type == "<c16" || type == ">c16" ? 16 : 0;
  const bool known =
      (h.kind == 'f' && (h.bytes == 2 || h.bytes == 4 || h.bytes == 8)) ||
      (h.kind == 'c' && (h.bytes == 8 || h.bytes == 16)) ||
      ((h.kind == 'i' || h.kind == 'u') && (h.bytes == 1 || h.bytes == 2 || h.bytes == 4 || h.bytes == 8)) ||
      (h.kind == 'b' && h.bytes == 1) || (h.kind == 'V' && h.bytes == 2);
  if (!known) refuse(name, joined("holds elements of NumPy type '", type, "', not numbers that can be read"));
  h.stored_type = std::string(type);
  if (h.kind == 'V') h.note = "two-byte elements without a type, taken as " + std::string(name_of(unnamed_dtype));
}

void parse_shape(const std::string& name, std::string_view text, NpyHeader& h) {
  const auto close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) refuse(name, "has an npy header without a shape");
  std::vector<index_t> sizes;
  index_t value = 0;
  bool digits = false;
  for (const char c : text.substr(1, close)) {
    if (c >= '0' && c <= '9') {
      if (__builtin_mul_overflow(value, index_t{10}, &value) || __builtin_add_overflow(value, index_t{c - '0'}, &value))
        refuse(name, "has an impossible npy shape");
      digits = true;
    } else if (digits) {
      sizes.push_back(value);
      value = 0, digits = false;
    }
  }
  if (sizes.empty()) refuse(name, "holds a single number, not a matrix");
  h.shape = sizes;
  h.rows = sizes[0], h.cols = 1;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    if (__builtin_mul_overflow(h.cols, sizes[i], &h.cols)) refuse(name, "has an impossible npy shape");
  if (sizes.size() > 2) {
    if (h.by_columns) refuse(name, "has more than two dimensions in Fortran order; store it in C order");
    h.note = joined("flattened from ", sizes.size(), " dimensions");
  }
}

}  // namespace

NpyBytes npy_bytes(const std::filesystem::path& file) {
  auto bytes = std::make_shared<const FileBytes>(file);
  const std::uint64_t size = bytes->size();
  return {file.string(), size, [bytes = std::move(bytes), name = file.string()](auto offset, std::span<std::byte> out) {
            if (bytes->read(offset, out) < out.size()) refuse(name, "could not be read to its end");
          }};
}

NpyHeader parse_npy_header(const NpyBytes& npy) {
  const auto [text, start] = npy_header_text(npy);
  NpyHeader h;
  h.start = start;
  parse_type(npy.name, after_key(npy.name, text, "descr"), h);
  h.by_columns = after_key(npy.name, text, "fortran_order").starts_with("True");
  parse_shape(npy.name, after_key(npy.name, text, "shape"), h);
  const std::uint64_t needed = sum({h.start, product({h.rows, h.cols, h.bytes})});
  if (npy.size < needed)
    refuse(npy.name, joined("is truncated: it has ", npy.size, " bytes, its shape needs ", needed));
  return h;
}

std::pair<std::string, std::uint64_t> npy_header_text(const NpyBytes& npy) {
  std::array<unsigned char, 12> start{};
  const auto read = [&](std::uint64_t offset, void* to, std::size_t count) {
    if (npy.size < offset + count) refuse(npy.name, "is truncated: its npy header ends early");
    npy.read(offset, {static_cast<std::byte*>(to), count});
  };
  read(0, start.data(), 10);
  const bool long_header = start[6] >= 2;
  if (long_header) read(10, start.data() + 10, 2);
  const std::uint64_t length = start[8] | std::uint64_t{start[9]} << 8 |
                               (long_header ? std::uint64_t{start[10]} << 16 | std::uint64_t{start[11]} << 24 : 0);
  if (length > (std::uint64_t{1} << 20)) refuse(npy.name, joined("has an npy header of ", length, " bytes"));
  std::string text(length, '\0');
  const std::uint64_t begin = long_header ? 12 : 10;
  read(begin, text.data(), length);
  return {text, begin + length};
}

namespace {

DType type_of(const NpyHeader& h) {
  if (h.kind == 'c') return complex_dtype(real_dtype(h.bytes / 2));
  if (h.kind == 'V') return unnamed_dtype;
  return h.kind == 'f' ? real_dtype(h.bytes) : DType::float64;
}

void swap_bytes(unsigned char* data, std::size_t count, std::size_t width) {
  for (std::size_t i = 0; i < count; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

template <class Stored>
void widen(const unsigned char* in, std::size_t count, double* out) {
  for (std::size_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, in + i * sizeof value, sizeof value);
    out[i] = static_cast<double>(value);
  }
}

void widen(const NpyHeader& h, const unsigned char* in, std::size_t count, double* out) {
  const bool is_signed = h.kind == 'i';
  switch (h.bytes) {
    case 1: return is_signed ? widen<std::int8_t>(in, count, out) : widen<std::uint8_t>(in, count, out);
    case 2: return is_signed ? widen<std::int16_t>(in, count, out) : widen<std::uint16_t>(in, count, out);
    case 4: return is_signed ? widen<std::int32_t>(in, count, out) : widen<std::uint32_t>(in, count, out);
    default: return is_signed ? widen<std::int64_t>(in, count, out) : widen<std::uint64_t>(in, count, out);
  }
}

/// An array that is open.
struct NpyFile {
  explicit NpyFile(NpyBytes from) : bytes(std::move(from)), header(parse_npy_header(bytes)) {}
  NpyFile(NpyBytes from, NpyHeader known) : bytes(std::move(from)), header(std::move(known)) {}

  NpyBytes bytes;
  NpyHeader header;

  void read(std::uint64_t offset, std::span<std::byte> out) const { bytes.read(offset, out); }
};

/// `count` elements from element `first` on, in stored order.
template <class T>
void read_elements(const NpyFile& npy, index_t first, index_t count, T* out) {
  const NpyHeader& h = npy.header;
  std::uint64_t offset = h.start + static_cast<std::uint64_t>(first * h.bytes);
  const auto size = static_cast<std::size_t>(count);
  const std::size_t part = static_cast<std::size_t>(h.kind == 'c' ? h.bytes / 2 : h.bytes);
  if (h.kind == 'f' || h.kind == 'c' || h.kind == 'V') {
    npy.read(offset, std::as_writable_bytes(std::span(out, size)));
    if (h.swapped) swap_bytes(reinterpret_cast<unsigned char*>(out), size * sizeof(T) / part, part);
    return;
  }
  if constexpr (std::is_same_v<T, double>) {
    constexpr std::size_t block = 65536;
    std::vector<unsigned char> raw(std::min(block, size) * part);
    for (std::size_t begin = 0; begin < size; begin += block) {
      const std::size_t n = std::min(block, size - begin);
      npy.read(offset + begin * part, std::as_writable_bytes(std::span(raw).first(n * part)));
      if (h.swapped) swap_bytes(raw.data(), n, part);
      widen(h, raw.data(), n, out + begin);
    }
  }
}

/// Reads lines of `length` elements on several threads, each a part of them. The first failure in line order is thrown.
template <class T>
void read_lines(const NpyFile& npy, RowRange lines, index_t length, bool finite, T* out) {
  constexpr index_t slab_bytes = index_t{4} << 20, most_threads = 8;
  const index_t line_bytes = std::max<index_t>(1, length * static_cast<index_t>(sizeof(T)));
  const index_t slab = std::max<index_t>(1, slab_bytes / line_bytes);
  const index_t most = std::min<index_t>(most_threads, default_threads());
  const index_t team = std::clamp<index_t>(lines.count() / (2 * slab), 1, most);
  parallel_ranges(static_cast<int>(team), lines.count(), [&](index_t first, index_t last) {
    for (index_t begin = first; begin < last; begin += slab) {
      const index_t count = std::min(slab, last - begin);
      T* const to = out + begin * length;
      read_elements(npy, (lines.begin + begin) * length, count * length, to);
      if (finite)
        check_finite(HostView<const T>::unchecked(to, count, length, length), lines.begin + begin, npy.bytes.name);
    }
  });
}

Description description_of(const NpyHeader& h, const Location& where, const ReadOptions& options) {
  Description d;
  d.where = where;
  d.convention = "npy";
  d.stored_type = h.stored_type;
  d.note = h.note;
  set_dense(d, h.rows, h.cols, type_of(h), options);
  if (h.by_columns)
    d.peak_bytes =
        options.transpose ? d.bytes : sum({d.bytes, product({h.rows, static_cast<index_t>(size_of(d.type))})});
  return d;
}

/// Reads a range of rows of an array stored by columns: a part of each column.
template <class T>
Matrix<T> read_parts_of_columns(const NpyFile& npy, RowRange range) {
  Matrix<T> a(range.count(), npy.header.cols);
  std::vector<T> part(static_cast<std::size_t>(range.count()));
  for (index_t j = 0; j < a.cols(); ++j) {
    read_elements(npy, j * npy.header.rows + range.begin, range.count(), part.data());
    for (index_t i = 0; i < a.rows(); ++i) a(i, j) = part[static_cast<std::size_t>(i)];
  }
  return a;
}

template <class T>
DenseMatrix read_as(const NpyFile& npy, ReadOptions options) {
  const NpyHeader& h = npy.header;
  const std::string name = npy.bytes.name;
  if (h.by_columns && !options.transpose)
    return finished(read_parts_of_columns<T>(npy, row_range(h.rows, options)), options, name);
  // The lines of the file are rows; of an array stored by columns they are rows of the transposed matrix.
  options.transpose = options.transpose && !h.by_columns;
  const auto& [lines, length] = h.by_columns ? std::pair(h.cols, h.rows) : std::pair(h.rows, h.cols);
  const RowRange range = rows_in_file(lines, options);
  Matrix<T> a(range.count(), length);
  read_lines(npy, range, length, false, a.data());
  return finished(std::move(a), options, name);
}

}  // namespace

Description describe_npy(const NpyBytes& npy, const Location& where, const ReadOptions& options) {
  return description_of(parse_npy_header(npy), where, options);
}

Description describe_array(const NpyHeader& header, const Location& where, const ReadOptions& options) {
  return description_of(header, where, options);
}

MatrixFile read_npy(const NpyBytes& from, const Location& where, const ReadOptions& options) {
  return read_array(from, parse_npy_header(from), where, options);
}

MatrixFile read_array(const NpyBytes& from, NpyHeader header, const Location& where, const ReadOptions& options) {
  const NpyFile npy(from, std::move(header));
  const NpyHeader& h = npy.header;
  MatrixFile result{description_of(h, where, options), {}};
  const Description& d = result.description;
  const RowRange range = row_range(d.rows, options);
  const bool whole = options.transpose && !h.by_columns;  // rows become columns
  const std::uint64_t beside = d.peak_bytes - d.bytes;
  require_memory(whole ? d.peak_bytes : sum({bytes_of_rows(d, range, {}), beside}), options.memory_limit, from.name);
  result.matrix = by_type(result.description.type,
                          [&]<class T>(std::type_identity<T>) -> DenseMatrix { return read_as<T>(npy, options); });
  return result;
}

ReadRows npy_rows(const Location& where) {
  return [npy = std::make_shared<const NpyFile>(npy_bytes(where.file))](RowRange rows, bool finite, void* out) {
    by_type(type_of(npy->header), [&]<class T>(std::type_identity<T>) {
      read_lines(*npy, rows, npy->header.cols, finite, static_cast<T*>(out));
    });
  };
}

const Format formats::npy = {
    .name = "npy",
    .matches = [](const std::string&, std::string_view start) { return start.starts_with("\x93NUMPY"); },
    .describe =
        [](const Location& where, const ReadOptions& options) {
          return describe_npy(npy_bytes(where.file), {where.file, ""}, options);
        },
    .read =
        [](const Location& where, const ReadOptions& options) {
          return read_npy(npy_bytes(where.file), {where.file, ""}, options);
        }};

}  // namespace ts::inline v0::io
