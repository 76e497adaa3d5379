// Every tolerance of the tests comes from the unit roundoff, here.
#pragma once

#include <cmath>
#include <limits>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::test {

template <class T>
inline constexpr double eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());

/// Bound of |computed - exact| for an inner product of `terms` products whose absolute values sum to
/// `magnitude` (Higham, Accuracy and Stability of Numerical Algorithms, eq. 3.5); twice that for complex
/// products.
template <class T>
double product_bound(double terms, double magnitude) {
  return (is_complex<T> ? 2.0 : 1.0) * (terms + 2) * eps<T> * magnitude;
}

/// Bounds of |Re| and |Im| of the error of a complex inner product of `terms` float64 products by three real
/// ones (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section 23.2.4). `apart` is
/// the sum of |Re a||Re b| + |Im a||Im b|, `together` that of (|Re a| + |Im a|)(|Re b| + |Im b|): the
/// imaginary part is the difference of numbers that may be larger than it and all of its terms.
struct BoundOfParts {
  double re, im;
};
inline BoundOfParts three_products_bound(double terms, double apart, double together) {
  const double unit = eps<double> / 2;
  return {(terms + 1) * unit * apart, (terms + 4) * unit * (together + apart)};
}

}  // namespace ts::test
