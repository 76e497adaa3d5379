#include "tallskinny/solvers/eigen/transform/transform.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/ortho/extension.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

double SpectralTransform::eigenvalue(double nu) const noexcept {
  switch (kind) {
    case Kind::none: break;
    case Kind::inverse: return sigma + 1 / nu;
    case Kind::chebyshev:  // T_d(cosh t) = cosh(d t)
      return centre + half_width * std::cosh(std::acosh(std::max(nu, 1.0)) / static_cast<double>(degree));
  }
  return nu;
}

double SpectralTransform::residual_of_a(double nu, double residual, double largest) const noexcept {
  switch (kind) {
    case Kind::none: break;
    case Kind::inverse: return nu == 0 ? inf : residual / (nu * nu);
    case Kind::chebyshev: {
      if (!(nu > 1)) return inf;
      // An error e_j = r_j / (nu - nu_j) along the eigenvector j becomes e_j nu_j / nu by purification and
      // adds (lambda_j - lambda) e_j nu_j / nu to the residual of A. In units of the half width, with T_d
      // convex beyond 1 and |nu_j| <= 1 for the damped:
      //   damped (x + 1) / ((nu - 1) nu);  1 < x_j < x: (x - 1) / (nu - 1);  x_j > x: that + (x_j - x) / nu.
      const auto x_of = [this](double value) {
        return std::cosh(std::acosh(std::max(value, 1.0)) / static_cast<double>(degree));
      };
      const double x = x_of(nu);
      const double factor = (x_of(largest) - x) / nu + std::max((x + 1) / ((nu - 1) * nu), (x - 1) / (nu - 1));
      return std::abs(half_width) * factor * residual;
    }
  }
  return residual;
}

SpectralTransform chebyshev_transform(double edge, double far, index_t degree) {
  SpectralTransform t;
  t.kind = SpectralTransform::Kind::chebyshev;
  t.centre = 0.5 * (edge + far), t.half_width = 0.5 * (edge - far), t.degree = degree;
  return t;
}

double Acceptance::rounding() const noexcept { return rounding_of(norm); }

double Acceptance::rounding_of(double size) const noexcept {
  // Block Gram-Schmidt drops directions below dead_factor(n) u ||A||: residuals are not known any better. What steps
  // and restarts round adds up like a random walk.
  return 2 * (ortho::dead_factor(rows, roundoff) + std::sqrt(static_cast<double>(steps))) * roundoff * size;
}

double Acceptance::bound(double lambda) const noexcept { return std::max(asked_of(lambda), rounding()); }

double Acceptance::asked_of(double lambda) const noexcept {
  double scale = 1;
  if (convergence == Convergence::norm) scale = norm;
  if (convergence == Convergence::rel) scale = std::abs(lambda);
  if (convergence == Convergence::root) scale = std::sqrt(norm * std::abs(lambda));
  return convergence == Convergence::rel ? std::max(tol * scale, least * norm) : tol * scale;
}

double Acceptance::ratio(double ritz, double residual) const noexcept {
  if (residual == 0) return 0;
  const double lambda = transform.eigenvalue(ritz);
  double allowed = bound(lambda);
  if (transform.kind == SpectralTransform::Kind::inverse)
    allowed =
        std::max(asked_of(lambda), std::min(rounding(), transform.residual_of_a(ritz, rounding_of(largest), largest)));
  const double of_a = transform.residual_of_a(ritz, residual, largest) / allowed;
  // Purified vectors stay independent while what purification adds is small.
  return transformed() ? std::max(of_a, residual / std::abs(ritz) / 1e-4) : of_a;
}

double Acceptance::ratio_of_copy(double ritz, double residual) const noexcept {
  Acceptance against_norm = *this;
  if (convergence == Convergence::rel) against_norm.convergence = Convergence::norm;
  return against_norm.ratio(ritz, residual);
}

Acceptance acceptance_of(const EigenOptions& options, double norm, index_t rows) {
  Acceptance accept;
  accept.tol = options.tol, accept.convergence = options.convergence, accept.norm = norm, accept.rows = rows;
  if (options.precision == Precision::float32) accept.least = float32_tolerance;
  return accept;
}

}  // namespace ts::inline v0::solvers
