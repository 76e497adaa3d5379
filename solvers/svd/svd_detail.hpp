// The way to singular triplets: a state that the largest and the smallest ones share.
#pragma once

#include <algorithm>
#include <string>

#include "tallskinny/solvers/eigen/hermitian/reason.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/transform/inertia.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/svd/inverse_gram.hpp"
#include "tallskinny/solvers/svd/svd.hpp"

namespace ts::inline v0::solvers {

/// Values above this share of the largest are what the squares resolve well.
inline constexpr double resolved_share = 1e-3;

/// An orthonormal basis of span(X), completed at random to `width` columns (at most as many as rows), where X is.
/// @param r if given, X = Q R.
/// @param found if given, the rank of X.
template <class T>
[[nodiscard]] PlacedMatrix<T> orthonormal_basis(const Context& ctx, PlacedView<const T> x, index_t width,
                                                std::uint64_t seed, Matrix<T>* r = nullptr, index_t* found = nullptr);

/// orthonormal_basis() in the memory of X where its rank is the width.
template <class T>
[[nodiscard]] PlacedMatrix<T> basis_in_place(const Context& ctx, PlacedMatrix<T>&& x, index_t width, std::uint64_t seed,
                                             Matrix<T>* r = nullptr, index_t* found = nullptr);

/// [A, B], where A is
template <class T>
[[nodiscard]] PlacedMatrix<T> beside(const Context& ctx, PlacedView<const T> a, PlacedView<const T> b);

/// A copy of A
template <class T>
[[nodiscard]] PlacedMatrix<T> copy_at(const Context& ctx, Space space, PlacedView<const T> a);

template <class T>
class SvdSolver {
 public:
  SvdSolver(const Context& ctx, const SvdProblem<T>& problem, const EigenOptions& options);

  SvdResult<T> run();
  /// Size of the factors that run() would make first.
  [[nodiscard]] std::optional<FactorEstimate> estimate_factors() const {
    if (!smallest_ || wanted_ == 0 || has_triangle() || dense_.cols() > 0 || sparse_.rows == 0) return std::nullopt;
    return InverseGram<T>::estimate(sparse_);
  }

 private:
  /// The way that the sizes call for.
  void search();
  [[nodiscard]] Acceptance acceptance() const {
    Acceptance accept;
    accept.tol = options_.tol, accept.convergence = options_.convergence, accept.norm = norm_;
    accept.rows = a_.rows + a_.cols;
    // A factor, an inverse or a deflation, and Rayleigh-Ritz: each rounds once more.
    if (norm_ > 0) accept.least = 4 * accept.rounding_of(scale()) / norm_;
    return accept;
  }
  /// Rounding in products is relative to this.
  [[nodiscard]] double scale() const { return std::max(norm_, a_.cancelled); }
  /// What is asked of eigenvectors of B^H B, with ||B|| = norm, when B^H u - sigma v = (B^H B v - sigma^2 v)
  /// / sigma may be as large as is asked of the triplets of A.
  [[nodiscard]] EigenOptions options_for(double norm) const;
  /// solve_eigen, with the work of the rounds before added.
  void solve(const EigenProblem<T>& problem, const EigenOptions& options, HostView<const T> initial = {});
  /// ||B|| from below.
  [[nodiscard]] double norm_of(const Rectangular<T>& b);
  /// Rayleigh-Ritz for singular triplets on span(X), with W = A V = Q R.
  void refine(PlacedView<const T> x);
  /// U^H A V = U' Sigma V'^H: the wanted are kept, with residuals from A. U and V: where A is at home.
  void settle(PlacedMatrix<T>&& u, const PlacedMatrix<T>& v);
  void settle(PlacedMatrix<T>&& u, const PlacedMatrix<T>& v, const Matrix<T>& uav);
  /// The residuals of triplets with the values that are kept, from A; vectors where A is at home.
  void measure(PlacedView<const T> right, PlacedView<const T> left);
  /// In memory where A is at home.
  [[nodiscard]] PlacedMatrix<T> placed(index_t rows, index_t cols) const { return {ctx_, a_.space, rows, cols}; }
  [[nodiscard]] bool residuals_met() const;
  /// Residuals meet the tolerance, and rounding in squares of size norm^2 moves the last singular value by
  /// less than that.
  [[nodiscard]] bool settled(double norm) const;
  /// How the values were reached and whether they are all, in words.
  [[nodiscard]] std::string reason() const;
  void conclude();
  /// Vectors where options asked for them, u and v in the places of the caller's matrix.
  void hand_out();

  // In svd_largest.cpp.
  void by_whole();
  /// All of A^H A, where the wanted values are so near to the largest that its squares tell them; false: they are not.
  [[nodiscard]] bool by_well_conditioned_squares(HostView<const T> a);
  /// Eigenvectors of A^H A.
  void by_gram();
  /// The squares of what is left when the triplets that are known well are taken out resolve the next ones,
  /// until all are known or nothing but rounding is left.
  void by_deflation();

  // In svd_triangle.cpp.
  /// May the matrix be dense, and has it at most so many columns?
  [[nodiscard]] bool fits_triangle(index_t columns) const;
  [[nodiscard]] bool has_triangle() const;
  /// Are all singular values computed where a search did not succeed?
  [[nodiscard]] bool may_take_over() const;
  /// Q of A = Q R, from all elements of A.
  [[nodiscard]] PlacedMatrix<T> elements_factorised(Matrix<T>& r) const;
  /// All singular values of R.
  void by_triangle();

  // In svd_smallest.cpp.
  /// A = Q R, and the smallest of R through its inverse.
  void by_factor();
  /// The smallest are the largest eigenvalues of (A^H A + delta^2 I)^-1.
  void by_inverse();
  /// All wanted values lie so far below delta that a smaller one tells them apart better.
  [[nodiscard]] bool is_too_far(double delta) const;
  /// Those that are nearest to zero as far as the inverse tells: roughly, to see how small they are, or
  /// closely and with verification, from what was found roughly.
  void find_smallest(const InverseGram<T>& inverse, double delta, bool closely);
  /// Block steps that cost what by_triangle() costs, which takes over then.
  [[nodiscard]] index_t steps_of_triangle(const InverseGram<T>& inverse) const;
  /// Left vectors of right ones. Those of vanishing singular values, which A V does not tell, are the
  /// smallest of A^H in the complement of the others.
  PlacedMatrix<T> left_vectors(const InverseGram<T>& inverse, HostView<const T> v, double delta);
  /// Does the number of singular values below the last, or below its cluster, agree?
  [[nodiscard]] bool is_counted(const CountBelow& count_below) const;

  const Context& ctx_;
  EigenOptions options_;
  Results results_;
  bool smallest_, transposed_;
  Rectangular<T> a_;  ///< at least as many rows as columns
  HostView<const T> dense_;
  CsrView<T> sparse_;
  CsrMatrix<T> own_sparse_;
  index_t wanted_ = 0;
  double norm_ = 0, next_ = nan;
  Verification verification_ = Verification::none;
  Verification searched_ = Verification::none;  ///< what the search through the inverse says of itself
  SvdResult<T> out_;
  PlacedMatrix<T> left_;  ///< a_.rows x k, where A is at home
};

}  // namespace ts::inline v0::solvers
