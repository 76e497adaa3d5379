// What block Krylov-Schur hands back: vectors, residuals from A, and what may be said of them.
#include <algorithm>
#include <cmath>
#include <string>

#include "tallskinny/solvers/eigen/krylov_schur_detail.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// An eigenvalue that rounding of A alone moves, to first order, by a millionth of ||A|| is not known,
/// however small its residual.
constexpr double hopeless = 1e-6 / unit_roundoff;
/// Conditions from which on a search alone is not trusted.
constexpr double doubtful = 1e4;

}  // namespace

template <class T>
void KrylovSchur<T>::finish() {
  const index_t k = std::min(wanted_, schur_.size());
  out_.values.clear(), out_.residual_norms.assign(at(k), 0.0), out_.converged_pairs.assign(at(k), false);
  out_.conditions.assign(pairs_.conditions.begin(), pairs_.conditions.begin() + k);
  out_.vectors = Matrix<Complex>(n_, k);
  // Parts of the coefficients in the arithmetic of the operator: [Re Y, Im Y], or Y itself.
  const index_t m = schur_.size(), f = basis_.width(), parts = is_complex<T> ? k : 2 * k;
  Matrix<T> y(m, parts), c(f, parts), ax(n_, parts);
  const auto put = [&](Matrix<T>& to, index_t i, index_t j, Complex z) {
    if constexpr (is_complex<T>)
      to(i, j) = z;
    else
      to(i, j) = z.real(), to(i, k + j) = z.imag();
  };
  for (index_t j = 0; j < k; ++j) {
    for (index_t i = 0; i < m; ++i) put(y, i, j, pairs_.vectors(i, j));
    for (index_t i = 0; i < f; ++i) {
      Complex sum = 0;
      for (index_t l = 0; l < m; ++l) sum += basis_.coupling()(i, l) * pairs_.vectors(l, j);
      put(c, i, j, problem_.inverse ? sum / schur_.value(j) : 0);
    }
  }
  const auto x =
      (problem_.inverse ? basis_.combine(y.cview(), c.cview()) : basis_.combine(y.cview())).to_host(ctx_);
  problem_.a.apply(ctx_, x.cview(), ax.view());
  extra_applications_ += parts;
  const auto entry = [&](const Matrix<T>& z, index_t i, index_t j) -> Complex {
    if constexpr (is_complex<T>)
      return z(i, j);
    else
      return {z(i, j), z(i, k + j)};
  };
  out_.converged_count = 0;
  for (index_t j = 0; j < k; ++j) {
    double squares = 0, off = 0;
    for (index_t i = 0; i < n_; ++i) squares += std::norm(entry(x, i, j));
    const double length = std::sqrt(squares);
    // Of a matrix of zeros no rounding is acceptable, that of sigma + 1 / nu either.
    const Complex theta = accept_.norm > 0 ? eigenvalue(schur_.value(j)) : 0;
    for (index_t i = 0; i < n_; ++i) {
      out_.vectors(i, j) = entry(x, i, j) / length;
      off += std::norm((entry(ax, i, j) - theta * entry(x, i, j)) / length);
    }
    out_.values.push_back(theta);
    out_.residual_norms[at(j)] = std::sqrt(off);
    Acceptance asked = accept_;
    asked.tol = options_.common.tol;
    out_.converged_pairs[at(j)] = out_.residual_norms[at(j)] <= asked.bound(std::abs(theta));
    out_.converged_count += out_.converged_pairs[at(j)] ? 1 : 0;
  }
}

template <class T>
void KrylovSchur<T>::weigh() {
  const bool searched = out_.verification == Verification::random_block && out_.stop == StopReason::converged;
  if (!searched || out_.converged_count < wanted_ || !problem_.adjoint) return;
  Acceptance asked = accept_;
  asked.tol = options_.common.tol;
  adjoint_ = ask_adjoint<T>(ctx_, problem_.adjoint(), options_, out_, asked.bound(0));
  const bool known = adjoint_->finding == Finding::normal || adjoint_->finding == Finding::agrees;
  for (std::size_t j = 0; j < adjoint_->conditions.size(); ++j)
    out_.conditions[j] =
        known ? adjoint_->conditions[j] : std::max(out_.conditions[j], adjoint_->conditions[j]);
}

template <class T>
void KrylovSchur<T>::conclude() {
  auto& r = out_;
  r.iterations = basis_.steps(), r.norm = accept_.norm, r.seconds = basis_.seconds();
  if (found_applications_ > 0) r.verification_applications = basis_.applications() - found_applications_;
  if (adjoint_) r.verification_applications += adjoint_->operator_applications;
  r.operator_applications =
      basis_.applications() + extra_applications_ + (adjoint_ ? adjoint_->operator_applications : 0);
  r.converged = r.converged_count == wanted_ && wanted_ >= nev_;
  if (r.converged && r.stop == StopReason::rounding) r.stop = StopReason::converged;
  if (!r.converged && r.stop == StopReason::converged) r.stop = StopReason::rounding;

  Verdict v;
  v.whole = r.verification == Verification::all_computed;
  if (adjoint_) v.finding = adjoint_->finding;
  double error = 0;
  for (std::size_t j = 0; j < r.conditions.size(); ++j) {
    v.worst = std::max(v.worst, r.conditions[j]);
    error = std::max(error, r.conditions[j] * (r.residual_norms[j] + unit_roundoff * accept_.norm));
  }
  // Where conditions are `doubtful`, what a search found may be no more than eigenvalues of a matrix near A;
  // unless residuals are so small that, with the conditions that left eigenvectors give, no eigenvalue is off
  // by a millionth of ||A|| either.
  const bool near = v.finding == Finding::agrees && error < 1e-6 * accept_.norm;
  v.limit = v.whole || near ? hopeless : doubtful;
  r.verified = r.converged && r.verification != Verification::none && v.worst < v.limit;
  v.opposed = r.verified && v.finding && *v.finding != Finding::normal && *v.finding != Finding::agrees;
  if (v.opposed)
    r.stop = v.finding == Finding::interrupted ? StopReason::interrupted : StopReason::not_verified;
  v.displaced = r.verified && !v.opposed && !nearest_hold();
  if (v.displaced) r.stop = StopReason::not_verified;
  r.verified = r.verified && !v.opposed && !v.displaced;
  r.reason = reason(v);
}

template <class T>
std::string KrylovSchur<T>::reason(const Verdict& v) const {
  const auto& r = out_;
  std::string text =
      std::to_string(r.converged_count) + " of " + std::to_string(wanted_) + " pairs converged";
  if (wanted_ > nev_) text += " (one more than asked for, so as not to separate a conjugate pair)";
  if (r.stop == StopReason::max_iterations)
    text += " within the block steps allowed: raise --max-iter or --max-basis";
  if (r.stop == StopReason::interrupted) text += "; stopped on request";
  if (r.stop == StopReason::rounding) text += "; residuals do not get smaller: ask for a larger --tol";
  if (v.displaced)
    text +=
        ", but the shift that had to be moved is too far from the target to tell whether they are the "
        "nearest to it: choose another --sigma";
  else if (v.opposed && v.finding == Finding::others)
    text +=
        ", but a search with the adjoint matrix finds other eigenvalues, as happens far from normal: compute "
        "the whole spectrum (--max-basis with the number of rows)";
  else if (v.opposed && v.finding == Finding::unfinished)
    text +=
        ", but a search with the adjoint matrix, which tells how certain they are, did not converge: raise "
        "--max-iter or --max-basis";
  else if (r.stop == StopReason::not_verified && is_inside())
    text +=
        ", but the smallest imaginary parts lie inside of the spectrum, where no search can tell that none "
        "is missing: compute the whole of it (--max-basis with the number of rows), or seek near a --sigma";
  else if (r.stop == StopReason::not_verified)
    text += ", but the block steps allowed ended before a search for missing values did: raise --max-iter";
  if (r.verified && v.whole)
    text += "; complete, for the whole spectrum was computed";
  else if (r.verified)
    text += std::string("; complete as far as a search from fresh random blocks") +
            (v.finding == Finding::agrees ? " and one with the adjoint matrix" : "") + " can tell" +
            (v.finding ? "" : ", which for a matrix far from normal is less than for a Hermitian one");
  if (!(v.worst < hopeless))
    text +=
        "; the matrix is so far from normal that rounding decides where these eigenvalues are: none can be "
        "vouched for";
  else if (!(v.worst < doubtful))
    text +=
        "; eigenvalues are ill-conditioned: errors may be larger than the residuals by the numbers given as "
        "conditions" +
        std::string(v.worst < v.limit              ? ""
                    : v.finding == Finding::agrees ? ", so that none can be vouched for at this --tol"
                                                   : ", so that none can be vouched for");
  return text;
}

template <class T>
bool KrylovSchur<T>::nearest_hold() const {
  if (!problem_.inverse || !problem_.target || out_.verification == Verification::all_computed) return true;
  const double moved = std::abs(problem_.shift - *problem_.target);
  if (moved == 0) return true;
  double farthest = 0, bound = accept_.rounding();
  for (const Complex v : out_.values) {
    farthest = std::max(farthest, std::abs(v - *problem_.target));
    bound = std::max(bound, accept_.bound(std::abs(v)));
  }
  if (2 * moved <= bound) return true;
  return farthest <= std::abs(out_.next_value - Complex(problem_.shift)) - moved + bound;
}

#define TS_INSTANTIATE(T)                 \
  template void KrylovSchur<T>::finish(); \
  template void KrylovSchur<T>::weigh();  \
  template void KrylovSchur<T>::conclude();
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
