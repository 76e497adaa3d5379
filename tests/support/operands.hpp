// Operands for tests of the engine: any layout, leading dimension and base offset, surrounded by NaN so that
// what an operation must not read poisons its result and what it must not write is noticed.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::test {

/// Splitmix64: enough randomness for operands, the same on every machine.
class Values {
 public:
  explicit Values(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0; }  ///< in [-1, 1)
  index_t below(index_t n) { return static_cast<index_t>(bits() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t state_;
};

template <class T>
T element(double re, double im = 0) {
  if constexpr (is_complex<T>)
    return narrowed<T>({re, im});
  else
    return narrowed<T>(re);
}

template <class T>
T nan_element() {
  return element<T>(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN());
}

/// The type that expected values are computed in.
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;

template <class T>
Wide<T> wide(T x) {
  return Wide<T>(widened(x));
}

inline long double conjugate(long double x) { return x; }
inline std::complex<long double> conjugate(std::complex<long double> x) { return std::conj(x); }
inline long double multiply(long double a, long double b) { return a * b; }
/// The textbook product: the library's handling of infinities costs ten times as much.
inline std::complex<long double> multiply(std::complex<long double> a, std::complex<long double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// |x|, or for complex x the sum of its parts: at most sqrt(2) times more, and much faster.
inline long double size(long double x) { return std::abs(x); }
inline long double size(std::complex<long double> x) { return std::abs(x.real()) + std::abs(x.imag()); }

template <class T>
std::vector<unsigned char> bits_of(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

/// How an operand lies in memory.
struct Form {
  Layout layout = Layout::row_major;
  index_t padding = 0;  ///< ld minus the least ld
  index_t offset = 0;   ///< elements before the first one
};
inline constexpr Form forms[] = {{Layout::row_major, 0, 0}, {Layout::row_major, 3, 1}, {Layout::col_major, 0, 0},
                                 {Layout::row_major, 8, 0}, {Layout::col_major, 5, 1}, {Layout::row_major, 1, 3}};
inline Form form_number(std::size_t i) { return forms[i % std::size(forms)]; }

template <class T>
class Operand {
 public:
  Operand(index_t rows, index_t cols, Form form = {})
      : rows_(rows), cols_(cols), form_(form), ld_((row_major() ? cols : rows) + form.padding) {
    const index_t behind = std::max<index_t>(5, form.offset);
    buffer_.assign(static_cast<std::size_t>(form.offset + ld_ * (row_major() ? rows : cols) + behind),
                   nan_element<T>());
  }
  /// Numbers in [-1, 1).
  Operand(index_t rows, index_t cols, Form form, Values& values) : Operand(rows, cols, form) {
    fill([&](index_t, index_t) {
      const double re = values.uniform();
      return element<T>(re, values.uniform());
    });
  }
  static Operand random(index_t rows, index_t cols, Form form, Values& values) {
    return Operand(rows, cols, form, values);
  }
  /// Integers in [-4, 4]: products and short sums of them are exact in every type.
  static Operand integers(index_t rows, index_t cols, Form form, Values& values) {
    Operand o(rows, cols, form);
    o.fill([&](index_t, index_t) {
      const auto re = static_cast<double>(values.below(9) - 4);
      return element<T>(re, static_cast<double>(values.below(9) - 4));
    });
    return o;
  }
  template <class F>
  void fill(F&& value) {
    for (index_t i = 0; i < rows_; ++i)
      for (index_t j = 0; j < cols_; ++j) at(i, j) = value(i, j);
  }

  [[nodiscard]] index_t rows() const { return rows_; }
  [[nodiscard]] index_t cols() const { return cols_; }
  T& at(index_t i, index_t j) { return buffer_[position(i, j)]; }
  const T& at(index_t i, index_t j) const { return buffer_[position(i, j)]; }
  [[nodiscard]] Wide<T> wide_at(index_t i, index_t j) const { return wide(at(i, j)); }

  [[nodiscard]] Strided<T> view() {
    return {&buffer_[static_cast<std::size_t>(form_.offset)], rows_, cols_, row_major() ? ld_ : 1,
            row_major() ? 1 : ld_};
  }
  [[nodiscard]] Strided<const T> cview() const { return const_cast<Operand*>(this)->view(); }
  /// use(view), with the view of the layout that this operand has.
  template <class F>
  void with_view(F&& use) {
    if (row_major())
      use(HostView<T>(buffer_.data() + form_.offset, rows_, cols_, ld_));
    else
      use(HostView<T, Layout::col_major>(buffer_.data() + form_.offset, rows_, cols_, ld_));
  }
  /// The elements with everything around them.
  [[nodiscard]] std::vector<T>& buffer() { return buffer_; }
  [[nodiscard]] std::vector<unsigned char> bits() const { return bits_of(buffer_); }
  /// True if everything around the elements is as the constructor set it.
  [[nodiscard]] bool surroundings_untouched() const {
    const T guard = nan_element<T>();
    std::vector<bool> inside(buffer_.size(), false);
    for (index_t i = 0; i < rows_; ++i)
      for (index_t j = 0; j < cols_; ++j) inside[position(i, j)] = true;
    for (std::size_t k = 0; k < buffer_.size(); ++k)
      if (!inside[k] && std::memcmp(&buffer_[k], &guard, sizeof(T)) != 0) return false;
    return true;
  }

 private:
  [[nodiscard]] bool row_major() const { return form_.layout == Layout::row_major; }
  [[nodiscard]] std::size_t position(index_t i, index_t j) const {
    return static_cast<std::size_t>(form_.offset + (row_major() ? i * ld_ + j : j * ld_ + i));
  }
  index_t rows_, cols_;
  Form form_;
  index_t ld_;
  std::vector<T> buffer_;
};

/// Calls use(view of a, view of b, ...) with every operand's own layout.
template <class F>
void with_views(F&& use) {
  use();
}
template <class F, class First, class... Rest>
void with_views(F&& use, First& first, Rest&... rest) {
  first.with_view([&](auto view) { with_views([&](auto... views) { use(view, views...); }, rest...); });
}

/// The product (in long double) of m x n by n x q and, per entry, the sum of the absolute values of its
/// terms.
template <class T>
struct Expected {
  index_t rows, cols, terms;
  std::vector<Wide<T>> value;
  std::vector<long double> magnitude;

  template <class Left, class Right>
  Expected(index_t m, index_t n, index_t q, Left&& left, Right&& right)
      : rows(m), cols(q), terms(n), value(static_cast<std::size_t>(m * q)), magnitude(value.size()) {
    for (index_t k = 0; k < n; ++k)
      for (index_t i = 0; i < m; ++i) {
        const Wide<T> a = left(i, k);
        for (index_t j = 0; j < q; ++j) add(i, j, multiply(a, right(k, j)));
      }
  }
  void add(index_t i, index_t j, Wide<T> term) {
    value[at(i, j)] += term;
    magnitude[at(i, j)] += size(term);
  }
  [[nodiscard]] std::size_t at(index_t i, index_t j) const { return static_cast<std::size_t>(i * cols + j); }
};

}  // namespace ts::test
