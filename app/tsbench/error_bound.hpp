// The error of a sum relative to its a-priori bound, in long double.
#pragma once

#include <cmath>
#include <limits>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::bench {

/// Complex or not, in long double, with the textbook product.
struct Wide {
  long double re = 0, im = 0;
  Wide operator+(Wide b) const { return {re + b.re, im + b.im}; }
  Wide operator-(Wide b) const { return {re - b.re, im - b.im}; }
  Wide operator*(Wide b) const { return {re * b.re - im * b.im, re * b.im + im * b.re}; }
  [[nodiscard]] Wide conjugate() const { return {re, -im}; }
  [[nodiscard]] long double size() const { return std::abs(re) + std::abs(im); }
};

template <class T>
Wide wide(T x) {
  if constexpr (is_complex<T>)
    return {x.real(), x.imag()};
  else if constexpr (std::is_same_v<T, result_t<T>>)
    return {x, 0};
  else
    return {to_float(x), 0};
}

/// A sum and the sum of the sizes of its terms.
struct Sum {
  Wide value;
  long double magnitude = 0, terms = 0;
  void add(Wide term) {
    value = value + term;
    magnitude += term.size();
    terms += 1;
  }
};

/// Relative to terms x eps x sum of |terms| (Higham 2002, eq. 3.5): at most 1 when right.
template <class R>
double relative_error(Wide computed, const Sum& want) {
  const auto eps = static_cast<long double>(std::numeric_limits<real_t<R>>::epsilon());
  const long double bound = (is_complex<R> ? 4 : 2) * (want.terms + 2) * eps * want.magnitude;
  const long double error = (computed - want.value).size();
  if (!(error <= std::numeric_limits<long double>::max())) return HUGE_VAL;
  return static_cast<double>(bound > 0 ? error / bound : (error > 0 ? HUGE_VALL : 0));
}

}  // namespace ts::bench
