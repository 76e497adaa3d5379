// The small dense problems (b x b, m x m) behind the tall ones. Row-major, and but for hermitian_pairs single-threaded,
// so that the bits never depend on the number of threads. Eigen stays inside small.cpp.
#pragma once

#include <functional>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::ortho {

/// Beyond so many rows and columns LAPACK is many times faster than Eigen.
inline constexpr index_t own_columns = 128;

/// H = U diag(values) U^H with ascending values and orthonormal columns of U.
template <class T>
struct HermitianEigen {
  std::vector<real_t<T>> values;
  Matrix<T> vectors;
};

/// Eigenvalues and eigenvectors of a small Hermitian matrix, of which the lower triangle is read; computed in
/// float64 for every T. A matrix with NaN or Inf gives NaN values. Beyond 128 rows by LAPACK, where the machine has it.
template <class T>
[[nodiscard]] HermitianEigen<T> hermitian_eigen(HostView<const T> h);

/// Selects the wanted ones of all eigenvalues, given in ascending order; their order is that of the vectors.
using ChoosePairs = std::function<std::vector<index_t>(const std::vector<double>& values)>;

/// All eigenvalues and the chosen eigenvectors.
template <class T>
struct HermitianPairs {
  std::vector<double> values;   ///< ascending
  std::vector<index_t> chosen;  ///< numbers of values
  Matrix<T> vectors;            ///< n x chosen, orthonormal
};

/// Eigenvalues and chosen eigenvectors of a finite Hermitian matrix, of which the lower triangle is read, for T of
/// float64. What is not chosen is not computed as far as that saves time. LAPACK gets the threads of ctx where they pay
/// (lapack.hpp), and the bits are equal for equal numbers of threads.
/// @param wanted about how many will be chosen
/// @param choose may be called twice
template <class T>
[[nodiscard]] HermitianPairs<T> hermitian_pairs(const Context& ctx, HostView<const T> h, index_t wanted,
                                                const ChoosePairs& choose);

/// X P = Q R with column pivoting: |R(j, j)| falls with j and is within a small factor of what the remaining
/// columns still hold.
template <class T>
struct PivotedQr {
  Matrix<T> q;                    ///< n x rank, orthonormal columns
  Matrix<T> r;                    ///< rank x b, its columns in the order of X's: X = Q R
  std::vector<real_t<T>> pivots;  ///< |R(j, j)| for all j < min(n, b), also behind the rank
};

/// Householder QR with column pivoting of an n x b matrix, on one thread and in float64 for every T; the rank
/// counts pivots above `dead`. X must be finite. Source: Businger and Golub 1965.
template <class T>
[[nodiscard]] PivotedQr<T> pivoted_qr(HostView<const T> x, double dead);

/// A = U T U^H with unitary U; T is upper triangular, that of a real matrix with 2 x 2 blocks on its diagonal.
template <class T>
struct SchurForm {
  Matrix<T> t;  ///< what lies below the triangle, or the blocks, is not defined
  Matrix<T> u;
  bool converged = false;  ///< if not, the rest means nothing
};

/// The Schur form of a small square matrix by the QR algorithm, for T = double and complex<double>; beyond 128 rows by
/// LAPACK, where the machine has it. Source: Golub and Van Loan, Matrix Computations, section 7.5.
template <class T>
[[nodiscard]] SchurForm<T> schur_form(HostView<const T> a);

/// A = U diag(values) V^H with falling values and min(m, n) columns in U and V.
template <class T>
struct Svd {
  Matrix<T> u;
  std::vector<real_t<T>> values;
  Matrix<T> v;
};

/// Singular values of a small finite matrix by Jacobi's rotations, computed in float64 for every T; beyond 128 columns
/// and rows by LAPACK's divide and conquer, where the machine has LAPACK, which is many times faster there. Source:
/// Demmel and Veselic 1992.
template <class T>
[[nodiscard]] Svd<T> svd(HostView<const T> a);

/// G = R^H R in place, with R upper triangular and zeros below. Returns false, leaving G undefined, when a
/// pivot is not above `margin` times the diagonal element it started from (or is NaN): G is then not positive
/// definite to working accuracy. Source: Higham, Accuracy and Stability of Numerical Algorithms, chapter 10.
template <class T>
[[nodiscard]] bool cholesky(HostView<T> g, double margin = 0);

/// R = A R, with A k x k and R k x p.
template <class T>
void multiply_left(HostView<const T> a, HostView<T> r);

/// C = A B.
template <class T>
[[nodiscard]] Matrix<T> product(HostView<const T> a, HostView<const T> b);

/// A = A + B
template <class T>
void add(HostView<T> a, HostView<const T> b);

template <class T>
void copy(HostView<const T> from, HostView<T> to);
template <class T>
void set_zero(HostView<T> a);
template <class T>
void set_identity(HostView<T> a);

/// True when no element is NaN or infinite.
template <class T>
[[nodiscard]] bool all_finite(HostView<const T> a);

}  // namespace ts::inline v0::ortho
