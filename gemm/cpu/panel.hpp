// Operands of any type and layout as row-major panels of real numbers, the only form the kernels know. A
// complex number is two neighbouring reals: a complex n x m matrix is a real n x 2m one.
#pragma once

#include <algorithm>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/cpu/kernels.hpp"

namespace ts::inline v0::cpu {

/// Reals in one element.
template <class T>
inline constexpr index_t reals_in = is_complex<T> ? 2 : 1;

/// What the kernels read in memory for one element of T: the 16-bit types as stored, a complex number's
/// reals.
template <class T>
using stored_t = std::conditional_t<std::is_same_v<T, result_t<T>>, real_t<T>, T>;

/// n, or the next multiple of unit above it.
[[nodiscard]] constexpr index_t round_up(index_t n, index_t unit) noexcept { return (n + unit - 1) / unit * unit; }

/// a x without the library's recovery from NaN, and for a real scalar part by part (0 times infinity is no
/// part of that product).
template <class C>
[[nodiscard]] constexpr C scaled(C a, C x) noexcept {
  if constexpr (is_complex<C>) {
    if (a.imag() == 0) return C(a.real() * x.real(), a.real() * x.imag());
    return C(a.real() * x.real() - a.imag() * x.imag(), a.real() * x.imag() + a.imag() * x.real());
  } else {
    return a * x;
  }
}

template <class T>
[[nodiscard]] constexpr Strided<const T> as_const(const Strided<T>& v) noexcept {
  Strided<const T> c;
  c.data = v.data, c.rows = v.rows, c.cols = v.cols, c.row_stride = v.row_stride, c.col_stride = v.col_stride;
  return c;
}

/// Reads a tall operand block by block.
template <class T>
class PanelSource {
 public:
  using R = real_t<T>;
  using E = stored_t<T>;

  PanelSource(const Kernels& k, Strided<const T> v) : kernels_(&k), v_(v) {
    if (v_.cols == 1) v_.col_stride = 1;  // one column is as good as row-major
    if (v_.rows == 1 && v_.col_stride == 1) v_.row_stride = v_.cols;
  }

  [[nodiscard]] index_t rows() const noexcept { return v_.rows; }
  /// Reals in a row.
  [[nodiscard]] index_t width() const noexcept { return v_.cols * reals_in<T>; }
  [[nodiscard]] bool row_major() const noexcept { return v_.col_stride == 1; }
  /// Whether the rows follow each other without gaps.
  [[nodiscard]] bool contiguous() const noexcept { return row_major() && v_.row_stride == v_.cols; }
  /// Whether blocks are read where they are.
  [[nodiscard]] bool in_place() const noexcept { return row_major() && std::is_same_v<E, R>; }

  /// The elements of row i on as stored; the caller knows how they lie.
  [[nodiscard]] const E* stored(index_t i) const noexcept {
    return reinterpret_cast<const E*>(v_.data + i * v_.row_stride);
  }
  /// Bytes between the beginnings of two rows, for asking ahead; 0 unless row-major.
  [[nodiscard]] index_t row_bytes() const noexcept {
    return row_major() ? v_.row_stride * static_cast<index_t>(sizeof(T)) : 0;
  }

  /// Columns first .. first+width-1 (in reals) of `count` rows from `i` on: where they are if they lie row by
  /// row (and, with `packed`, without gaps), else copied into `buffer` (count * width reals).
  [[nodiscard]] Panel<R> block(index_t i, index_t count, index_t first, index_t width, bool packed,
                               R* buffer) const noexcept {
    if constexpr (std::is_same_v<E, R>) {
      const index_t ld = v_.row_stride * reals_in<T>;
      if (row_major() && (!packed || ld == width)) return {stored(i) + first, ld};
    }
    copy(i, count, first / reals_in<T>, width / reals_in<T>, buffer);
    return {buffer, width};
  }

 private:
  void copy(index_t i, index_t count, index_t j, index_t cols, R* buffer) const noexcept {
    if constexpr (std::is_same_v<E, R>) {
      T* out = reinterpret_cast<T*>(buffer);
      if (row_major()) {
        for (index_t r = 0; r < count; ++r)
          for (index_t c = 0; c < cols; ++c) out[r * cols + c] = v_(i + r, j + c);
        return;
      }
      // As many columns side by side as make a line of the target: each column is read as a stream.
      constexpr index_t line = 64 / sizeof(T);
      for (index_t c = 0; c < cols; c += line) {
        const T* from = &v_(i, j + c);
        const index_t stride = v_.col_stride, few = std::min(line, cols - c);
        T* to = out + c;
        if (few == line) {
          for (index_t r = 0; r < count; ++r, to += cols)
            for (index_t l = 0; l < line; ++l) to[l] = from[l * stride + r];
        } else {
          for (index_t r = 0; r < count; ++r, to += cols)
            for (index_t l = 0; l < few; ++l) to[l] = from[l * stride + r];
        }
      }
    } else if (row_major()) {
      if (v_.row_stride == cols) return widen(&v_(i, j), count * cols, buffer);
      for (index_t r = 0; r < count; ++r) widen(&v_(i + r, j), cols, buffer + r * cols);
    } else {
      float column[256];
      for (index_t r = 0; r < count; r += 256) {
        const index_t n = std::min<index_t>(256, count - r);
        for (index_t c = 0; c < cols; ++c) {
          widen(&v_(i + r, j + c), n, column);
          for (index_t l = 0; l < n; ++l) buffer[(r + l) * cols + c] = column[l];
        }
      }
    }
  }

  void widen(const T* x, index_t count, float* y) const noexcept {
    std::get<WidenKernel<T>>(kernels_->widen).widen(x, count, y);
  }

  const Kernels* kernels_;
  Strided<const T> v_;
};

/// How far on memory is asked for: it has answered when its turn comes, and what it sent is still in the
/// second-level cache.
inline constexpr index_t ahead_bytes = 16 << 10;

/// What to ask for while rows i .. i+rows-1 of one operand, or of two that are read side by side, are worked
/// on: as many rows further on.
template <class T>
[[nodiscard]] Ahead ask_ahead(const PanelSource<T>& a, index_t i, index_t rows) noexcept {
  const index_t next = i + std::max(rows, ahead_bytes / std::max<index_t>(a.row_bytes(), 1));
  const index_t next_rows = std::clamp<index_t>(a.rows() - next, 0, rows);
  if (next_rows == 0) return {};
  return {{a.stored(next), nullptr}, {next_rows * a.row_bytes(), 0}};
}
template <class T>
[[nodiscard]] Ahead ask_ahead(const PanelSource<T>& a, const PanelSource<T>& b, index_t i, index_t rows) noexcept {
  const index_t next = i + std::max(rows, ahead_bytes / std::max<index_t>(a.row_bytes() + b.row_bytes(), 1));
  const index_t next_rows = std::clamp<index_t>(a.rows() - next, 0, rows);
  return {{a.stored(next), b.stored(next)}, {next_rows * a.row_bytes(), next_rows * b.row_bytes()}};
}

}  // namespace ts::inline v0::cpu
