// What the iteration sees in place of A: A itself, its inverse near a target, or a Chebyshev polynomial of
// it; and when a pair of that operator counts as a converged pair of A.
#pragma once

#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

/// nu(lambda) and its inverse on the wanted side of the spectrum. Eigenvectors stay the same.
struct SpectralTransform {
  enum class Kind { none, inverse, chebyshev };
  Kind kind = Kind::none;
  double sigma = 0;  ///< inverse: nu = 1 / (lambda - sigma)
  /// chebyshev: nu = T_d((lambda - centre) / half_width). The damped interval is mapped to [-1, 1]; the sign
  /// of half_width puts the wanted end beyond 1. d is odd: what may lie beyond -1 becomes negative and is
  /// never taken for wanted.
  double centre = 0, half_width = 1;
  index_t degree = 1;

  /// lambda of nu. Of a polynomial only for nu >= 1; below, the edge of the damped interval.
  [[nodiscard]] double eigenvalue(double nu) const noexcept;
  /// A bound (inverse: an estimate) of the residual that the purified vector x = V s + F B s / nu of a Ritz
  /// pair (nu, V s) with residual `residual` = ||B s|| has as an eigenvector of A.
  /// @param largest the largest Ritz value |nu|.
  [[nodiscard]] double residual_of_a(double nu, double residual, double largest) const noexcept;
};

/// T_degree with the interval between `edge`, beyond which the wanted eigenvalues lie, and `far` damped.
[[nodiscard]] SpectralTransform chebyshev_transform(double edge, double far, index_t degree);

/// When a Ritz pair counts as converged.
struct Acceptance {
  double tol = 0;
  Convergence convergence = Convergence::rel;
  double norm = 0;   ///< ||A||
  double least = 0;  ///< relative to it: no smaller residual is asked of a value, however small (rel)
  index_t rows = 0;
  index_t steps = 0;                ///< block steps that the pairs went through: each rounds anew
  double roundoff = unit_roundoff;  ///< of the products that residuals are estimated from
  SpectralTransform transform = {};
  double largest = 0;  ///< the largest |nu| seen

  [[nodiscard]] bool transformed() const noexcept { return transform.kind != SpectralTransform::Kind::none; }
  /// What a residual of A must not exceed; never below the rounding of A x itself, nor `least`.
  [[nodiscard]] double bound(double lambda) const noexcept;
  /// The same without these.
  [[nodiscard]] double asked_of(double lambda) const noexcept;
  /// Of products with A, and of those with an operator of this norm.
  [[nodiscard]] double rounding() const noexcept;
  [[nodiscard]] double rounding_of(double size) const noexcept;
  /// The residual of a Ritz pair as a multiple of its bound: converged when <= 1. Through an inverse it is not the
  /// rounding of A x that bounds it, but that of the inverse, where that is less.
  [[nodiscard]] double ratio(double ritz, double residual) const noexcept;
  /// The same against the norm, for a Ritz value that rounding does not tell from one in the set: no more is needed to
  /// see that it is a copy.
  [[nodiscard]] double ratio_of_copy(double ritz, double residual) const noexcept;
};

/// As asked, for a matrix of this norm and so many rows.
[[nodiscard]] Acceptance acceptance_of(const EigenOptions&, double norm, index_t rows);

}  // namespace ts::inline v0::solvers
