// Hermitian matrices by tridiagonal ones on several threads, with the BLAS and LAPACK of the machine at one thread
// each: how the work is cut is fixed by the size, so that the bits do not depend on the number of threads.
#pragma once

#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::ortho {

/// A real symmetric tridiagonal matrix.
struct Tridiagonal {
  std::vector<double> d, e;  ///< n each; the last of e is of no use

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(d.size()); }
};

/// A = Q T Q^H, with Q = H_0 H_1 .. and H_j = I - tau_j v_j v_j^H.
template <class T>
struct Reduced {
  /// Neighbouring reflectors as I - V F V^H.
  struct Block {
    index_t first;  ///< row and number of the first; v_j begins at row j + 1
    Matrix<T> v;    ///< a row for each v_j, of n - first - 1 numbers, and spare rows
    Matrix<T> f;    ///< F by columns: row j is its column j
    index_t width;
  };
  Tridiagonal t;
  std::vector<Block> blocks;
};

/// Whether the machine has what the functions here need.
[[nodiscard]] bool has_tridiagonal();

/// Reduces a finite Hermitian matrix of order n > 0 whose largest element is of order one. Half of the work is products
/// with single vectors, the other half xGEMM. Source: Dongarra, Sorensen and Hammarling 1989.
/// @param a n rows, of which the lower triangle is read; overwritten. Behind it are spare elements.
template <class T>
[[nodiscard]] Reduced<T> reduce(const Context& ctx, HostView<T> a);

/// X = Q X for vectors in the rows of x, spare elements behind.
template <class T>
void turn_back(const Context& ctx, const Reduced<T>& reduced, HostView<T> x);

[[nodiscard]] bool has_divide_and_conquer();
/// All eigenvalues, ascending, and orthonormal eigenvectors, one in each row of z; false where it does not converge.
/// Source: Gu and Eisenstat 1995; the steps are those of xLAED1.
[[nodiscard]] bool divide_and_conquer(const Context& ctx, Tridiagonal t, std::vector<double>& values,
                                      Matrix<double>& z);

}  // namespace ts::inline v0::ortho
