// Kahan's matrix: nearly singular, though no diagonal entry, pivot or column says so.
#pragma once

#include <cmath>

#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::test {

/// diag(s^i) times the unit upper triangle with -c above its diagonal, for s = sin 1.2 and c = cos 1.2, n x n. Source:
/// W. Kahan, Numerical linear algebra, Canadian Math. Bulletin 9 (1966).
template <class T>
Matrix<T> kahan(index_t n) {
  const double s = std::sin(1.2), c = std::cos(1.2);
  auto a = Matrix<T>::zeros(n, n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = i; j < n; ++j) a(i, j) = std::pow(s, static_cast<double>(i)) * (i == j ? 1 : -c);
  return a;
}

}  // namespace ts::test
