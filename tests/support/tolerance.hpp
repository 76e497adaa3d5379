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

}  // namespace ts::test
