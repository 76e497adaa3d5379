// The small dense problems (b x b, m x m) behind the tall ones. Row-major, single-threaded, so that the bits
// never depend on the number of threads. Eigen stays inside small.cpp.
#pragma once

#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::ortho {

/// H = U diag(values) U^H with ascending values and orthonormal columns of U.
template <class T>
struct HermitianEigen {
  std::vector<real_t<T>> values;
  Matrix<T> vectors;
};

/// Eigenvalues and eigenvectors of a small Hermitian matrix, of which the lower triangle is read.
/// T: double or std::complex<double>. A matrix with NaN or Inf gives NaN values.
template <class T>
[[nodiscard]] HermitianEigen<T> hermitian_eigen(HostView<const T> h);

/// G = R^H R in place, with R upper triangular and zeros below. Returns false, leaving G undefined, when a
/// pivot is not above `margin` times the diagonal element it started from (or is NaN): G is then not positive
/// definite to working accuracy. Source: Higham, Accuracy and Stability of Numerical Algorithms, chapter 10.
template <class T>
[[nodiscard]] bool cholesky(HostView<T> g, real_t<T> margin);

/// R = A R, with A k x k and R k x p.
template <class T>
void multiply_left(HostView<const T> a, HostView<T> r);

/// C = A B.
template <class T>
[[nodiscard]] Matrix<T> product(HostView<const T> a, HostView<const T> b);

template <class T>
void set_identity(HostView<T> a);

/// True when no element is NaN or infinite.
template <class T>
[[nodiscard]] bool all_finite(HostView<const T> a);

}  // namespace ts::ortho
