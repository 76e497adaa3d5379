#include "tallskinny/io/matrix/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

std::string line_word(const Subject& s) { return s.by_columns ? "column" : "row"; }
std::string index_word(const Subject& s) { return s.by_columns ? "row" : "column"; }

std::string place(index_t i, index_t j) {
  return std::string("(").append(std::to_string(i)).append(", ").append(std::to_string(j)).append(")");
}

/// HDF5 clamps what a 32-bit number cannot hold.
std::string spelled(std::int32_t index) {
  return std::to_string(index) + (index == std::numeric_limits<std::int32_t>::max() ? " or more" : "");
}

/// Sorts every line and adds up what stands at one place, in stored order.
template <class T>
void sort_and_sum(CsrMatrix<T>& a) {
  std::vector<std::pair<std::int32_t, T>> line;
  index_t kept = 0;
  for (index_t i = 0; i < a.rows; ++i) {
    line.clear();
    for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k) line.emplace_back(a.indices[k], a.values[k]);
    std::stable_sort(line.begin(), line.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    const index_t begin = kept;
    for (const auto& [index, value] : line) {
      if (kept > begin && a.indices[kept - 1] == index) {
        a.values[kept - 1] += value;
      } else {
        a.indices[kept] = index, a.values[kept] = value;
        ++kept;
      }
    }
    a.pointers[i] = begin;
  }
  a.pointers[a.rows] = kept;
  a.indices.resize(static_cast<std::size_t>(kept));
  a.values.resize(static_cast<std::size_t>(kept));
}

}  // namespace

void check_pointers(const std::vector<index_t>& pointers, index_t entries, const Subject& subject, index_t lines) {
  if (pointers.empty()) refuse(subject.name, "has no pointers; there is one more than its " + line_word(subject) + "s");
  const auto line = [&](std::size_t i) {
    return joined(line_word(subject), " ", subject.first_line + static_cast<index_t>(i));
  };
  if (subject.first_line > 0 && pointers.front() < 0)
    refuse(subject.name, joined("has a negative pointer at ", line(0), ": ", pointers.front()));
  if (subject.first_line == 0 && pointers.front() != 0)
    refuse(subject.name, joined("has pointers that start at ", pointers.front(), " instead of 0"));
  for (std::size_t i = 1; i < pointers.size(); ++i) {
    if (pointers[i] < pointers[i - 1])
      refuse(subject.name, joined("has decreasing pointers at ", line(i - 1), ": ", pointers[i - 1], " is followed by ",
                                  pointers[i]));
    if (pointers[i] > entries)
      refuse(subject.name,
             joined("has a pointer to entry ", pointers[i], " at ", line(i - 1), ", but ", entries, " entries"));
  }
  if (pointers.back() > entries)
    refuse(subject.name, joined("has a pointer to entry ", pointers.back(), ", but ", entries, " entries"));
  if ((lines < 0 || subject.first_line + std::ssize(pointers) - 1 == lines) && pointers.back() != entries)
    refuse(subject.name, joined("has pointers that end at ", pointers.back(), ", but ", entries, " entries"));
}

template <class T>
void check_lines(CsrMatrix<T>& a, const Subject& subject) {
  bool ordered = true;
  for (index_t i = 0; i < a.rows; ++i) {
    std::int32_t previous = -1;
    for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k) {
      const std::int32_t index = a.indices[k];
      if (index < 0 || index >= a.cols)
        refuse(subject.name, joined("has an entry in ", line_word(subject), " ", subject.first_line + i, " with ",
                                    index_word(subject), " number ", spelled(index), ", outside 0..", a.cols - 1));
      if (index <= previous) {
        if (!subject.accept_unsorted)
          refuse(subject.name, joined("has ", index == previous ? "two entries for " : "unsorted entries near ",
                                      line_word(subject), " ", subject.first_line + i, ", ", index_word(subject), " ",
                                      index, "; --accept-unsorted sorts them and adds up duplicates"));
        ordered = false;
      }
      previous = index;
    }
  }
  if (!ordered) sort_and_sum(a);
}

template <class T>
CsrMatrix<T> transposed(CsrMatrix<T> a) {
  if (a.rows > std::numeric_limits<std::int32_t>::max())
    throw Error(Errc::bad_input, "a matrix with more than 2^31 - 1 rows cannot be transposed");
  return gathered<T>(a.cols, a.rows, [&](const auto& put) {
    for (index_t i = 0; i < a.rows; ++i)
      for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k) put(a.indices[k], i, a.values[k]);
  });
}

template <class T>
void check_triangle_entry(index_t i, index_t j, T value, Structure structure, Triangle triangle,
                          const Subject& subject) {
  const bool lower = triangle == Triangle::lower;
  if (lower ? j > i : j < i)
    refuse(subject.name, joined("is declared ", name_of(structure), " with its ", (lower ? "lower" : "upper"),
                                " triangle stored, but has an entry at ", place(i, j)));
  if (i == j && !fits_diagonal(value, structure) && value == value)
    refuse(subject.name, joined("is declared ", name_of(structure), ", but its diagonal entry at ", place(i, j),
                                (structure == Structure::hermitian ? " is not real" : " is not zero")));
}

template <class T>
void check_triangle(const CsrMatrix<T>& lines, Structure structure, Triangle triangle, const Subject& subject) {
  for (index_t line = 0; line < lines.rows; ++line)
    for (index_t k = lines.pointers[line]; k < lines.pointers[line + 1]; ++k) {
      const index_t i = subject.first_line + line, j = lines.indices[k];
      check_triangle_entry(subject.by_columns ? j : i, subject.by_columns ? i : j, lines.values[k], structure, triangle,
                           subject);
    }
}

template <class T>
CsrMatrix<T> mirrored(CsrMatrix<T> a, Structure structure, Triangle triangle, const Subject& subject) {
  if (structure == Structure::general || triangle == Triangle::none) return a;
  check_triangle(a, structure, triangle, subject);
  const auto each = [&](bool images, const auto& put) {
    for (index_t i = 0; i < a.rows; ++i)
      for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k)
        if (const index_t j = a.indices[k]; !images)
          put(i, j, a.values[k]);
        else if (j != i)
          put(j, i, mirror_image(a.values[k], structure));
  };
  // Entries arrive in a row in the order of their columns: below the diagonal first.
  return gathered<T>(a.rows, a.cols, [&](const auto& put) {
    each(triangle == Triangle::upper, put);
    each(triangle == Triangle::lower, put);
  });
}

template <class T>
CsrMatrix<T> row_slice(CsrMatrix<T> a, index_t begin, index_t end) {
  if (begin == 0 && end == a.rows) return a;
  CsrMatrix<T> slice;
  slice.rows = end - begin, slice.cols = a.cols;
  slice.pointers.assign(a.pointers.begin() + begin, a.pointers.begin() + end + 1);
  const index_t first = slice.pointers.front(), last = slice.pointers.back();
  for (index_t& p : slice.pointers) p -= first;
  slice.indices.assign(a.indices.begin() + first, a.indices.begin() + last);
  slice.values.assign(a.values.begin() + first, a.values.begin() + last);
  return slice;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, check_lines)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, transposed)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, check_triangle)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, check_triangle_entry)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, mirrored)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, row_slice)

namespace {

// The first NaN or Inf of a matrix. Blocks are tested without branches, so that the compiler makes vector
// code of it; only a block that fails is searched.

/// x - x is 0 for finite x and NaN for all others.
template <class R>
bool all_finite(const R* x, index_t n) {
  R sum = 0;
  constexpr index_t lanes = 16;
  R partial[lanes] = {};
  index_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (index_t l = 0; l < lanes; ++l) partial[l] += x[i + l] - x[i + l];
  for (; i < n; ++i) sum += x[i] - x[i];
  for (const R p : partial) sum += p;
  return sum == 0;
}
template <class T>
requires(sizeof(T) == 2) bool all_finite(const T* x, index_t n) {
  constexpr std::uint32_t exponent = narrowed<T>(std::numeric_limits<double>::infinity()).bits;
  std::uint32_t bad = 0;
  for (index_t i = 0; i < n; ++i) bad |= (x[i].bits & exponent) == exponent;
  return bad == 0;
}
template <class R>
bool all_finite(const std::complex<R>* x, index_t n) {
  return all_finite(reinterpret_cast<const R*>(x), 2 * n);
}

template <class T>
bool is_nan(T x) {
  if constexpr (is_complex<T>)
    return std::isnan(x.real()) || std::isnan(x.imag());
  else
    return std::isnan(widened(x));
}

/// The position of the first element that is not finite, or n.
template <class T>
index_t first_not_finite(const T* x, index_t n) {
  constexpr index_t block = 4096;
  for (index_t begin = 0; begin < n; begin += block) {
    const index_t end = std::min(n, begin + block);
    if (all_finite(x + begin, end - begin)) continue;
    for (index_t i = begin; i < end; ++i)
      if (!all_finite(x + i, 1)) return i;
  }
  return n;
}

template <class T>
[[noreturn]] void refuse_value(const std::string& name, T value, index_t row, index_t col) {
  refuse(name, joined("has ", is_nan(value) ? "NaN" : "Inf", " at row ", row, ", column ", col, " (counted from 0)"));
}

}  // namespace

template <class T>
void check_finite(const CsrMatrix<T>& a, const Subject& subject) {
  const index_t at = first_not_finite(a.values.data(), a.nonzeros());
  if (at == a.nonzeros()) return;
  const auto before = std::upper_bound(a.pointers.begin(), a.pointers.end(), at) - a.pointers.begin() - 1;
  index_t row = subject.first_line + before, col = a.indices[static_cast<std::size_t>(at)];
  if (subject.by_columns) std::swap(row, col);
  refuse_value(subject.name, a.values[static_cast<std::size_t>(at)], row, col);
}

template <class T>
void check_finite(HostView<const T> a, index_t first_row, const std::string& name) {
  const bool contiguous = a.ld() == a.cols();
  for (index_t i = 0; i < (contiguous ? std::min<index_t>(a.rows(), 1) : a.rows()); ++i) {
    const index_t n = contiguous ? a.rows() * a.cols() : a.cols();
    const index_t at = first_not_finite(a.data() + i * a.ld(), n);
    if (at < n) {
      const index_t row = i + at / a.cols(), col = at % a.cols();
      refuse_value(name, a(row, col), first_row + row, col);
    }
  }
}

#define TS_INSTANTIATE(T) template void check_finite<T>(const CsrMatrix<T>&, const Subject&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T) template void check_finite<T>(HostView<const T>, index_t, const std::string&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::io
