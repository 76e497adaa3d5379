// A measured result is checked before it is timed.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "tallskinny/app/tsbench/operands.hpp"

namespace ts::bench {

/// The largest error of sampled entries of the result in `o` (just computed from operands whose values are those of
/// operands.hpp), relative to the a-priori bound of the operation: at most 1 when right. Rows of tall
/// results are computed again in long double; entries of sums over rows are compared with sums in long
/// double, or on a GPU in twice float64's precision.
template <class T, Space S>
[[nodiscard]] double worst_error(const Context& ctx, const Operands<T, S>& o);

/// Complex or not, in long double, with the textbook product.
struct Wide {
  long double re = 0, im = 0;
  Wide operator+(Wide b) const { return {re + b.re, im + b.im}; }
  Wide operator-(Wide b) const { return {re - b.re, im - b.im}; }
  Wide operator*(Wide b) const { return {re * b.re - im * b.im, re * b.im + im * b.re}; }
  [[nodiscard]] Wide conjugate() const { return {re, -im}; }
  [[nodiscard]] long double size() const { return std::abs(re) + std::abs(im); }
};

/// A sum and the sum of the sizes of its terms.
struct Sum {
  Wide value;
  long double magnitude = 0, terms = 0;
  Sum& operator+=(const Sum& more) {
    value = value + more.value, magnitude += more.magnitude, terms += more.terms;
    return *this;
  }
  void add(Wide term) { *this += {term, term.size(), 1}; }
};

/// sum_k conj(a(k, i)) b(k, j) for each entry (i, j). Those of device memory: gpu/device.hpp.
template <class T>
[[nodiscard]] std::vector<Sum> inner_sums(const Context& ctx, Strided<const T> a, Strided<const T> b,
                                          std::span<const std::array<index_t, 2>> entries);
/// to(s, :) = a(rows[s], :), row after row.
template <class T>
void gather(const Context& ctx, std::span<T> to, Strided<const T> a, std::span<const index_t> rows);

}  // namespace ts::bench
