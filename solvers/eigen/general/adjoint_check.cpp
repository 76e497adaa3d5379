#include "tallskinny/solvers/eigen/general/adjoint_check.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/small/parts.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

using Finding = AdjointCheck::Finding;

/// For each of `wanted` its own nearest of `there`, which are at least as many.
std::vector<index_t> partners(const std::vector<Complex>& wanted, const std::vector<Complex>& there) {
  std::vector<bool> taken(there.size());
  std::vector<index_t> of;
  for (const Complex z : wanted) {
    std::size_t best = there.size();
    for (std::size_t i = 0; i < there.size(); ++i)
      if (!taken[i] && (best == there.size() || std::abs(there[i] - z) < std::abs(there[best] - z))) best = i;
    taken[best] = true;
    of.push_back(static_cast<index_t>(best));
  }
  return of;
}

/// ||y_j|| of the Y' = [y_1 ...] in the span of Y with Y'^H X = I, for unit columns of X: the conditions of
/// X's eigenvalues if Y spans their left eigenvectors.
std::vector<double> norms_of_dual(const Context& ctx, HostView<const Complex> x, HostView<const Complex> y) {
  const index_t k = x.cols();
  Matrix<Complex> w(k, k), yy(k, k);
  tsmttsm(ctx, Op::adjoint, Complex(1), x, y, Complex(0), w.view());
  tsmttsm(ctx, Op::adjoint, Complex(1), y, y, Complex(0), yy.view());
  const auto s = ortho::svd<Complex>(w.cview());
  if (!(s.values.back() > 0)) return std::vector<double>(at(k), inf);
  Matrix<Complex> c(k, k);  // (X^H Y)^-1 = V S^-1 U^H
  for (index_t i = 0; i < k; ++i)
    for (index_t j = 0; j < k; ++j) {
      c(i, j) = 0;
      for (index_t l = 0; l < k; ++l) c(i, j) += s.v(i, l) / s.values[at(l)] * std::conj(s.u(j, l));
    }
  const auto yyc = ortho::product<Complex>(yy.cview(), c.cview());
  std::vector<double> norms;
  for (index_t j = 0; j < k; ++j) {
    Complex squares = 0;
    for (index_t i = 0; i < k; ++i) squares += std::conj(c(i, j)) * yyc(i, j);
    norms.push_back(std::sqrt(std::max(squares.real(), 0.0)));
  }
  return norms;
}

}  // namespace

template <class T>
std::vector<double> general_residuals(const Context& ctx, const Operator<T>& a, HostView<const Complex> x,
                                      const std::vector<Complex>& theta) {
  const auto parts = parts_of<T>(x);
  Matrix<T> ax(parts.rows(), parts.cols());
  a.apply(ctx, parts.cview(), ax.view());
  std::vector<double> norms(theta.size());
  for (index_t j = 0; j < x.cols(); ++j) {
    double squares = 0;
    for (index_t i = 0; i < x.rows(); ++i) squares += std::norm(whole_of(ax, i, j) - theta[at(j)] * x(i, j));
    norms[at(j)] = std::sqrt(squares);
  }
  return norms;
}

template <class T>
AdjointCheck ask_adjoint(const Context& ctx, const GeneralProblem<T>& adjoint, const GeneralOptions& options,
                         const GeneralResult& found, double bound) {
  const auto k = static_cast<index_t>(found.values.size());
  AdjointCheck check;
  std::vector<Complex> conjugates;
  for (const Complex z : found.values) conjugates.push_back(std::conj(z));
  const auto norms = general_residuals<T>(ctx, adjoint.a, found.vectors.cview(), conjugates);
  check.operator_applications = is_complex<T> ? k : 2 * k;
  bool normal = true;
  for (index_t j = 0; j < k; ++j) normal = normal && norms[at(j)] <= std::max(bound, 2 * found.residual_norms[at(j)]);
  if (normal) {
    check.finding = Finding::normal, check.conditions.assign(at(k), 1.0);
    return check;
  }
  GeneralOptions o = options;
  o.common.verify = false, o.common.seed ^= 0xd1b54a32d192ed03u;
  // Conditions need few digits of left eigenvectors, and what residuals allow counts below.
  constexpr double enough = 1e-5;
  o.common.tol = std::max(o.common.tol, enough);
  // Where several come last at once, the search with A^H may choose others of them: then it finds more.
  for (const index_t asked : {k, 2 * k + 4}) {
    o.common.nev = std::min(asked, adjoint.a.rows());
    if (options.common.max_basis > 0) o.common.max_basis = std::max(options.common.max_basis, 2 * o.common.nev + 32);
    const GeneralResult left = solve_general<T>(ctx, adjoint, o);
    check.operator_applications += left.operator_applications;
    check.finding = left.stop == StopReason::interrupted ? Finding::interrupted : Finding::unfinished;
    if (!left.converged) return check;
    const auto of = partners(conjugates, left.values);
    const auto y = columns_of(left.vectors, of);
    check.conditions = norms_of_dual(ctx, found.vectors.cview(), y.cview());
    check.finding = Finding::agrees;
    for (index_t j = 0; j < k; ++j) {
      const double error = found.residual_norms[at(j)] + left.residual_norms[at(of[at(j)])] + bound;
      // (Beyond a square root of 1 / u conditions say no more than that.)
      const double condition = std::min(check.conditions[at(j)], 1 / std::sqrt(unit_roundoff));
      if (std::abs(left.values[at(of[at(j)])] - conjugates[at(j)]) > 4 * condition * error)
        check.finding = Finding::others;
    }
    if (check.finding == Finding::agrees &&
        *std::max_element(check.conditions.begin(), check.conditions.end()) < 1 / std::sqrt(unit_roundoff))
      break;
  }
  return check;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, general_residuals)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, ask_adjoint)

}  // namespace ts::inline v0::solvers
