#include "tallskinny/solvers/eigen/result/pencil.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/ranks/rows_product.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Judges the outcome in standard form by the residuals from the two matrices.
/// @param at_rounding the residuals of that do not get smaller
template <class T>
void conclude_pencil(EigenResult<T>& result, bool at_rounding, index_t wanted) {
  const auto k = static_cast<index_t>(result.values.size());
  if (at_rounding && result.converged_count == k && k >= wanted) {
    const bool all = result.verification == Verification::all_computed;
    result.converged = true, result.verified = result.verification != Verification::none;
    result.stop = result.verified ? StopReason::converged : StopReason::not_verified;
    result.reason = std::to_string(k) + " of " + std::to_string(k) +
                    " pairs converged, as far as the rounding of A x - lambda M x allows" +
                    (all ? "; complete, for the whole spectrum was computed" : "");
  } else if (result.converged && result.converged_count < k) {
    result.converged = result.verified = false;
    result.stop = StopReason::rounding;
    result.reason = std::to_string(result.converged_count) + " of " + std::to_string(k) +
                    " pairs have residuals from the two matrices within the tolerance; those of the others do not "
                    "get smaller: the mass matrix is ill-conditioned, ask for a larger `tol`";
  }
}

}  // namespace

template <class T>
PencilChecks to_pencil(const Context& ctx, const Operator<T>& a, CsrView<T> mass, const MassFactor<T>& factor,
                       const EigenOptions& options, EigenResult<T>& result) {
  const index_t n = a.rows();
  const Operator<T> m = product_of<T>(ctx, mass);
  const auto k = static_cast<index_t>(result.values.size());
  Matrix<T> x(n, k), r(n, k), mx(n, k);
  factor.back(ctx, result.vectors.cview(), x.view());
  m.apply(ctx, x.cview(), mx.view());

  // I - X^H M X
  Matrix<T> gram(k, k);
  tsmttsm(ctx, Op::adjoint, T{1}, x.cview(), mx.cview(), T{0}, gram.view());
  for (index_t j = 0; j < k; ++j) gram(j, j) -= T{1};
  const auto loss = ortho::hermitian_eigen<T>(gram.cview());
  result.orthogonality_loss = k > 0 ? std::max(std::abs(loss.values.front()), std::abs(loss.values.back())) : 0;

  // R = A X - M X Theta
  a.apply(ctx, x.cview(), r.view());
  result.operator_applications += k;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < k; ++j) r(i, j) -= result.values[at(j)] * mx(i, j);
  std::vector<double> plain(at(k)), of_x(at(k)), weighed(at(k));
  column_norms(ctx, r.cview(), std::span<double>(plain));
  column_norms(ctx, x.cview(), std::span<double>(of_x));
  Matrix<T> w(n, k);
  factor.weigh(ctx, r.cview(), w.view());
  column_norms(ctx, w.cview(), std::span<double>(weighed));

  PencilChecks checks;
  const double norm_a = estimate_norm(ctx, a, options.seed, result.operator_applications);
  index_t of_mass = 0;
  const double norm_m = estimate_norm<T>(ctx, m, options.seed, of_mass);
  const auto accept = acceptance_of(options, result.norm, all_rows(ctx, n));
  // Products with the standard form round more than those with the matrices do.
  const bool at_rounding = result.stop == StopReason::rounding;
  result.converged_count = 0;
  for (index_t j = 0; j < k; ++j) {
    const double value = result.values[at(j)];
    checks.backward_errors.push_back(plain[at(j)] / ((norm_a + std::abs(value) * norm_m) * of_x[at(j)]));
    // Rounding of the standard form shows here: what was bounded there by less is bounded by this.
    if (weighed[at(j)] > 2 * result.residual_norms[at(j)] && weighed[at(j)] > result.error_bounds[at(j)])
      result.error_bounds[at(j)] = weighed[at(j)];
    // The angle is that of M^(1/2) x, and the gap stays.
    double& angle = result.vector_errors[at(j)];
    if (weighed[at(j)] > result.residual_norms[at(j)]) angle *= weighed[at(j)] / result.residual_norms[at(j)];
    if (!(angle < 1)) angle = nan;
    result.residual_norms[at(j)] = weighed[at(j)];
    // Where rounding is all that is left of A x - lambda M x, an ill-conditioned M makes more of it.
    const bool met = weighed[at(j)] <= accept.bound(value) || checks.backward_errors.back() <= accept.rounding_of(1);
    result.converged_pairs[at(j)] = (result.converged_pairs[at(j)] || at_rounding) && met;
    result.converged_count += result.converged_pairs[at(j)] ? 1 : 0;
  }
  conclude_pencil(result, at_rounding, std::min(options.nev, all_rows(ctx, n)));
  result.vectors = std::move(x);
  return checks;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, to_pencil)

}  // namespace ts::inline v0::solvers
