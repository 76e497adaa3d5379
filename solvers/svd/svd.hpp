// The largest or smallest singular values of a matrix and their vectors.
#pragma once

#include <optional>
#include <string>

#include "tallskinny/solvers/direct/direct_solver.hpp"
#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/solvers/svd/rectangular.hpp"

namespace ts::inline v0::solvers {

/// T: double or std::complex<double>.
template <class T>
struct SvdProblem {
  Rectangular<T> a;  ///< m x n
  /// Empty, or the elements of a, dense. A tall one is reduced to its Gram matrix, or where that loses too
  /// many digits to its triangular factor.
  HostView<const T> dense = {};
  /// Empty, or the elements of a, sparse: factorised for the smallest singular values.
  CsrView<T> sparse = {};
};

/// How the singular values were reached.
enum class SvdStage { gram, triangular, deflated, inverse, whole };

/// A v = sigma u, A^H u = sigma v, the largest sigma first, or the smallest first where they are wanted.
template <class T>
struct SvdResult {
  /// `values` are the singular values, `vectors` the right ones (n x k); `residual_norms` those of [u; v] /
  /// sqrt(2) with [0 A; A^H 0], sqrt((||A v - sigma u||^2 + ||A^H u - sigma v||^2) / 2), computed from A
  /// itself at the end: a singular value lies within that distance.
  EigenResult<T> triplets;
  Matrix<T> left;  ///< m x k, orthonormal
  /// The left vectors for Results::on_device, beside triplets.device_vectors; `left` is m x 0 then.
  DeviceMatrix<T> device_left = {};
  SvdStage stage = SvdStage::gram;
};

/// The `nev` largest singular triplets, or the smallest of the min(m, n) for `which` SM. `method` has no say.
///
/// Largest: first the eigenvectors of A^H A (or A A^H, whichever is smaller), by solve_eigen and with its
/// verification; the singular values then come from A V, not from square roots. A^H A squares the condition
/// number: what it cannot resolve (singular values below about u / tol of the largest), or residuals that
/// miss the tolerance, lead to a second step that does not square: the triangular factor where columns are
/// few, or the same once more on what is left of A when the triplets found so far are taken out, whose norm
/// is that much smaller.
///
/// Where an eighth or more of all triplets of a dense matrix are wanted which is not tall, all are computed at once:
/// those of A^H A where all wanted values are at least a sixteenth of the largest, else from A itself, by a
/// dense_solver() where A is at home.
///
/// Smallest: all singular values of the triangular factor where columns are few; otherwise block Lanczos on
/// (A^H A + delta^2 I)^-1 through an InverseGram of the sparse matrix, or of the triangular factor of a dense
/// one. Their number is proved by inertia where rounding in that allows it.
///
/// Up to 4000 columns all singular values of the triangular factor are computed where neither succeeds at that cost,
/// unless the number of block steps was given.
/// @throws Error(invalid_argument), Error(bad_input) as solve_eigen; for smallest ones also where `a` has
/// many columns and neither `dense` nor `sparse` is there.
template <class T>
[[nodiscard]] SvdResult<T> solve_svd(const Context&, const SvdProblem<T>&, const EigenOptions&);

/// True if solve_svd computes all singular values of a dense matrix at once where so many of the largest are wanted.
[[nodiscard]] bool svd_takes_whole(index_t rows, index_t cols, index_t wanted) noexcept;

/// Size of the factors that solve_svd would make of a sparse matrix; nothing where it would make none.
template <class T>
[[nodiscard]] std::optional<FactorEstimate> estimate_svd_factors(const Context&, const SvdProblem<T>&,
                                                                 const EigenOptions&);

}  // namespace ts::inline v0::solvers
