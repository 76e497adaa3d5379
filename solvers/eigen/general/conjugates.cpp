// Eigenvalues of a real matrix near a complex target: conjugates join what complex arithmetic found.
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/small/schur.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Directions of unit vectors below this are noise.
constexpr double independent = 1e-9;

/// X Y, with a real X.
Matrix<Complex> times(const Matrix<double>& x, const Matrix<Complex>& y) {
  auto z = Matrix<Complex>::zeros(x.rows(), y.cols());
  for (index_t i = 0; i < x.rows(); ++i)
    for (index_t l = 0; l < x.cols(); ++l)
      for (index_t j = 0; j < y.cols(); ++j) z(i, j) += x(i, l) * y(l, j);
  return z;
}

/// One Rayleigh-Ritz step in real arithmetic: X = Q Y for the eigenvectors Y of H = Q^T A Q.
struct RealPairs {
  Schur schur;           ///< of H, rising by the key
  SchurVectors vectors;  ///< of H
  Matrix<Complex> x;
  std::vector<double> residuals;  ///< ||A x - theta x||
};

/// @param q an orthonormal basis of the space.
RealPairs real_pairs(const Context& ctx, const Operator<double>& a, const Matrix<double>& q,
                     const std::function<double(Complex)>& key) {
  const index_t n = q.rows(), r = q.cols();
  Matrix<double> aq(n, r);
  a.apply(ctx, q.cview(), aq.view());
  auto h = Matrix<double>::zeros(r, r);
  for (index_t i = 0; i < n; ++i)
    for (index_t l = 0; l < r; ++l)
      for (index_t j = 0; j < r; ++j) h(l, j) += q(i, l) * aq(i, j);
  RealPairs pairs{schur_of<double>(h.cview()), {}, {}, std::vector<double>(at(r))};
  sort_schur(pairs.schur, key);
  pairs.vectors = eigenvectors_of(pairs.schur, r);
  pairs.x = times(q, pairs.vectors.vectors);
  const auto ax = times(aq, pairs.vectors.vectors);
  for (index_t j = 0; j < r; ++j) {
    double squares = 0;
    for (index_t i = 0; i < n; ++i) squares += std::norm(ax(i, j) - pairs.schur.value(j) * pairs.x(i, j));
    pairs.residuals[at(j)] = std::sqrt(squares);
  }
  return pairs;
}

/// The first nev pairs that are good, in whole units; noise that was taken for a direction is not even near to
/// an eigenvector.
std::vector<index_t> good_units(const RealPairs& pairs, const Acceptance& accept, index_t nev) {
  const auto good = [&](index_t j) { return pairs.residuals[at(j)] <= accept.bound(std::abs(pairs.schur.value(j))); };
  std::vector<index_t> kept;
  index_t first = 0;
  for (const index_t size : pairs.schur.units) {
    if (static_cast<index_t>(kept.size()) >= nev) break;
    for (index_t j = first; j < first + size; ++j)
      if (good(first) && good(first + size - 1)) kept.push_back(j);
    first += size;
  }
  return kept;
}

/// How far values may be off.
double slack_of(const GeneralResult& r) {
  double slack = 0;
  for (std::size_t j = 0; j < r.values.size(); ++j) slack = std::max(slack, 4 * r.conditions[j] * r.residual_norms[j]);
  return slack;
}

}  // namespace

GeneralResult with_conjugates(const Context& ctx, const Operator<double>& a, GeneralResult out, Complex target,
                              const GeneralOptions& options) {
  const UseHostMemory use(ctx.host_memory);
  if (out.values.empty()) return out;
  const index_t n = a.rows(), nev = std::min(options.common.nev, n);
  const auto key = [target](Complex z) { return std::min(std::abs(z - target), std::abs(z - std::conj(target))); };
  const auto q = std::move(ortho::pivoted_qr<double>(parts_of<double>(out.vectors.cview()).cview(), independent).q);
  const auto pairs = real_pairs(ctx, a, q, key);
  out.operator_applications += q.cols();
  const auto accept = acceptance_of(options.common, out.norm, n);
  const auto kept = good_units(pairs, accept, nev);
  const auto count = static_cast<index_t>(kept.size());
  double slack = std::max(accept.rounding(), slack_of(out));
  const auto found = std::move(out.values);
  out.values.clear(), out.residual_norms.clear(), out.conditions.clear(), out.backward_errors.clear();
  out.vectors = columns_of(pairs.x, kept);
  for (const index_t from : kept) {
    out.values.push_back(pairs.schur.value(from)), out.residual_norms.push_back(pairs.residuals[at(from)]);
    out.conditions.push_back(pairs.vectors.conditions[at(from)]);
    out.backward_errors.push_back(out.residual_norms.back() > 0 ? out.residual_norms.back() / out.norm : 0);
  }
  out.converged_pairs.assign(at(count), true), out.converged_count = count, out.vector_errors.assign(at(count), nan);

  // Where complex arithmetic saw everything, within the last value kept, both agree on how many there are.
  double last = 0;
  for (const Complex z : out.values) last = std::max(last, key(z));
  slack = std::max(slack, slack_of(out));
  const auto inside = [&](const std::vector<Complex>& values) {
    return std::count_if(values.begin(), values.end(), [&](Complex z) { return std::abs(z - target) <= last - slack; });
  };
  const bool agree = inside(out.values) == inside(found), was_verified = out.verified;
  out.converged = out.converged && count >= nev;
  out.verified = was_verified && out.converged && agree;
  if (count > nev) out.reason += " (one more than asked for, so as not to separate a conjugate pair)";
  if (was_verified && !out.verified) {
    out.stop = StopReason::not_verified;
    out.reason +=
        "; but which of them are real and which belong to conjugate pairs could not be told: ask for a "
        "smaller `tol` or another `target`";
  }
  return out;
}

}  // namespace ts::inline v0::solvers
