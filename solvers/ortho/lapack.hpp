// LAPACK routines for small problems, bound at run time, so that neither the build nor the program needs the library.
#pragma once

#include <complex>
#include <vector>

#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::ortho {

/// Column-major factors of an m x n matrix with k = min(m, n): A = U diag(values) V^H.
template <class T>
struct LapackSvd {
  std::vector<T> u;            ///< m x k
  std::vector<double> values;  ///< falling
  std::vector<T> vh;           ///< k x n
};

/// Divide and conquer (xGESDD) of a column-major m x n matrix, which is overwritten; T is double or complex<double>.
/// OpenBLAS gets one thread, so that the bits do not depend on the number of threads. Returns false where the machine
/// has no LAPACK, or where it does not converge. Source: Gu and Eisenstat 1995.
template <class T>
[[nodiscard]] bool lapack_svd(index_t m, index_t n, std::vector<T>& a, LapackSvd<T>& svd);

/// Rows from which a Hermitian matrix is given all threads: where nothing else runs, two of them are 1.2 times as fast
/// as one at 400 rows, 1.4 at 600 and 1.5 at 1000; on a busy machine they are slower below (docs/notes/ortho.md).
inline constexpr index_t threaded_rows = 512;

/// hermitian_pairs() of a finite matrix by reduction to tridiagonal form, divide and conquer (for few vectors
/// relatively robust representations), and the way back. OpenBLAS gets the threads of ctx from threaded_rows on, and
/// the bits depend on their number there. Returns false likewise.
template <class T>
[[nodiscard]] bool lapack_hermitian(const Context& ctx, HostView<const T> h, index_t wanted, const ChoosePairs& choose,
                                    HermitianPairs<T>& out);

/// schur_form() of a finite matrix by xGEES, T double or complex<double>. Likewise on one thread; returns false
/// likewise.
template <class T>
[[nodiscard]] bool lapack_schur(HostView<const T> a, SchurForm<T>& form);

}  // namespace ts::inline v0::ortho
