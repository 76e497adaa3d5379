// Complex blocks in the arithmetic of a real operator.
#pragma once

#include <complex>

#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::inline v0::solvers {

using Complex = std::complex<double>;

/// X itself where T is complex, otherwise [Re X, Im X].
template <class T>
[[nodiscard]] Matrix<T> parts_of(HostView<const Complex> x) {
  const index_t k = x.cols();
  Matrix<T> parts(x.rows(), is_complex<T> ? k : 2 * k);
  for (index_t i = 0; i < x.rows(); ++i)
    for (index_t j = 0; j < k; ++j)
      if constexpr (is_complex<T>)
        parts(i, j) = x(i, j);
      else
        parts(i, j) = x(i, j).real(), parts(i, k + j) = x(i, j).imag();
  return parts;
}

/// The element (i, j) that such parts hold.
template <class T>
[[nodiscard]] Complex whole_of(const Matrix<T>& parts, index_t i, index_t j) {
  if constexpr (is_complex<T>)
    return parts(i, j);
  else
    return {parts(i, j), parts(i, parts.cols() / 2 + j)};
}

}  // namespace ts::inline v0::solvers
