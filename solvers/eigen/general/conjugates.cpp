// Eigenvalues of a real matrix near a complex target: conjugates join what complex arithmetic found.
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Directions of unit vectors below this are noise.
constexpr double independent = 1e-9;

/// An orthonormal basis of the span of real and imaginary parts.
Matrix<double> real_space(const Matrix<Complex>& x) {
  const index_t n = x.rows(), k = x.cols();
  Matrix<double> parts(n, 2 * k);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < k; ++j) parts(i, j) = x(i, j).real(), parts(i, k + j) = x(i, j).imag();
  return std::move(ortho::pivoted_qr<double>(parts.cview(), independent).q);
}

/// X Y, with a real X.
Matrix<Complex> times(const Matrix<double>& x, const Matrix<Complex>& y) {
  auto z = Matrix<Complex>::zeros(x.rows(), y.cols());
  for (index_t i = 0; i < x.rows(); ++i)
    for (index_t l = 0; l < x.cols(); ++l)
      for (index_t j = 0; j < y.cols(); ++j) z(i, j) += x(i, l) * y(l, j);
  return z;
}

}  // namespace

GeneralResult with_conjugates(const Context& ctx, const Operator<double>& a, GeneralResult out,
                              Complex target, const GeneralOptions& options) {
  if (out.values.empty()) return out;
  const auto found = std::move(out.values);
  const index_t n = a.rows();
  const auto key = [target](Complex z) {
    return std::min(std::abs(z - target), std::abs(z - std::conj(target)));
  };
  const auto q = real_space(out.vectors);
  const index_t r = q.cols();
  Matrix<double> aq(n, r);
  a.apply(ctx, q.cview(), aq.view());
  out.operator_applications += r;
  auto h = Matrix<double>::zeros(r, r);
  for (index_t i = 0; i < n; ++i)
    for (index_t l = 0; l < r; ++l)
      for (index_t j = 0; j < r; ++j) h(l, j) += q(i, l) * aq(i, j);
  auto schur = schur_of<double>(h.cview());
  sort_schur(schur, key);
  const auto pairs = eigenvectors_of(schur, r);
  const auto x = times(q, pairs.vectors), ax = times(aq, pairs.vectors);
  std::vector<double> residuals(at(r));
  for (index_t j = 0; j < r; ++j) {
    double squares = 0;
    for (index_t i = 0; i < n; ++i) squares += std::norm(ax(i, j) - schur.value(j) * x(i, j));
    residuals[at(j)] = std::sqrt(squares);
  }
  Acceptance accept;
  accept.tol = options.common.tol, accept.convergence = options.common.convergence;
  accept.norm = out.norm, accept.rows = n;
  const auto good = [&](index_t j) { return residuals[at(j)] <= accept.bound(std::abs(schur.value(j))); };

  // Whole units; noise that was taken for a direction is not even near to an eigenvector.
  const index_t nev = std::min(options.common.nev, n);
  std::vector<index_t> kept;
  index_t first = 0;
  for (const index_t size : schur.units) {
    if (static_cast<index_t>(kept.size()) >= nev) break;
    for (index_t j = first; j < first + size; ++j)
      if (good(first) && good(first + size - 1)) kept.push_back(j);
    first += size;
  }
  const auto count = static_cast<index_t>(kept.size());
  double slack = accept.rounding();  // how far the values may be off
  for (std::size_t j = 0; j < found.size(); ++j)
    slack = std::max(slack, 4 * out.conditions[j] * out.residual_norms[j]);
  out.values.clear(), out.residual_norms.clear(), out.conditions.clear();
  out.vectors = Matrix<Complex>(n, count);
  for (index_t j = 0; j < count; ++j) {
    const index_t from = kept[at(j)];
    out.values.push_back(schur.value(from)), out.residual_norms.push_back(residuals[at(from)]);
    out.conditions.push_back(pairs.conditions[at(from)]);
    for (index_t i = 0; i < n; ++i) out.vectors(i, j) = x(i, from);
  }
  out.converged_pairs.assign(at(count), true), out.converged_count = count;

  // Where complex arithmetic saw everything, within the last value kept, both agree on how many there are.
  double last = 0;
  for (index_t j = 0; j < count; ++j) {
    last = std::max(last, key(out.values[at(j)]));
    slack = std::max(slack, 4 * out.conditions[at(j)] * out.residual_norms[at(j)]);
  }
  const auto inside = [&](const std::vector<Complex>& values) {
    return std::count_if(values.begin(), values.end(),
                         [&](Complex z) { return std::abs(z - target) <= last - slack; });
  };
  const bool agree = inside(out.values) == inside(found), was_verified = out.verified;
  out.converged = out.converged && count >= nev;
  out.verified = was_verified && out.converged && agree;
  if (count > nev) out.reason += " (one more than asked for, so as not to separate a conjugate pair)";
  if (was_verified && !out.verified) {
    out.stop = StopReason::not_verified;
    out.reason +=
        "; but which of them are real and which belong to conjugate pairs could not be told: ask for a "
        "smaller --tol or another --sigma";
  }
  return out;
}

}  // namespace ts::solvers
