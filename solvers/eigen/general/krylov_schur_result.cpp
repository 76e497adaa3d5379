// What block Krylov-Schur hands back: vectors, residuals from A, and what may be said of them.
#include <algorithm>
#include <cmath>
#include <string>

#include "tallskinny/solvers/eigen/general/krylov_schur_detail.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// An eigenvalue that rounding of A alone moves, to first order, by a millionth of ||A|| is not known,
/// however small its residual.
constexpr double hopeless = 1e-6 / unit_roundoff;
/// Conditions from which on the reader is told.
constexpr double doubtful = 1e4;

}  // namespace

template <class T>
void KrylovSchur<T>::finish() {
  const index_t k = std::min(wanted_, schur_.size());
  out_.values.clear(), out_.converged_pairs.assign(at(k), false);
  out_.conditions.assign(pairs_.conditions.begin(), pairs_.conditions.begin() + k);
  out_.vectors = Matrix<Complex>(n_, k);
  // Parts of the coefficients in the arithmetic of the operator: [Re Y, Im Y], or Y itself.
  const index_t m = schur_.size(), f = basis_.width(), parts = is_complex<T> ? k : 2 * k;
  Matrix<T> y(m, parts), c(f, parts);
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
  for (index_t j = 0; j < k; ++j) {
    const auto entry = [&](index_t i) -> Complex {
      if constexpr (is_complex<T>)
        return x(i, j);
      else
        return {x(i, j), x(i, k + j)};
    };
    double squares = 0;
    for (index_t i = 0; i < n_; ++i) squares += std::norm(entry(i));
    const double length = std::sqrt(squares);
    for (index_t i = 0; i < n_; ++i) out_.vectors(i, j) = entry(i) / length;
    // Of a matrix of zeros no rounding is acceptable, that of sigma + 1 / nu either.
    out_.values.push_back(accept_.norm > 0 ? eigenvalue(schur_.value(j)) : 0);
  }
  out_.residual_norms = general_residuals<T>(ctx_, problem_.a, out_.vectors.cview(), out_.values);
  extra_applications_ += parts;
  Acceptance asked = accept_;
  asked.tol = options_.common.tol;
  out_.converged_count = 0;
  for (std::size_t j = 0; j < out_.values.size(); ++j) {
    out_.converged_pairs[j] = out_.residual_norms[j] <= asked.bound(std::abs(out_.values[j]));
    out_.converged_count += out_.converged_pairs[j] ? 1 : 0;
  }
}

template <class T>
void KrylovSchur<T>::weigh() {
  const bool searched = out_.verification == Verification::random_block && out_.stop == StopReason::converged;
  if (!searched || out_.converged_count < wanted_ || !problem_.adjoint) return;
  const GeneralProblem<T> adjoint = problem_.adjoint();
  if (is_normal<T>(ctx_, problem_.a, adjoint.a, options_.common.seed)) {
    companion_ = ask_companion<T>(ctx_, problem_, adjoint, options_, out_, hints_);
    out_.conditions.assign(out_.conditions.size(), 1.0);
  } else if (!left_to_dense_) {
    Acceptance asked = accept_;
    asked.tol = options_.common.tol;
    adjoint_ = ask_adjoint<T>(ctx_, adjoint, options_, out_, asked.bound(0));
    const bool known = adjoint_->finding == AdjointCheck::Finding::normal ||
                       adjoint_->finding == AdjointCheck::Finding::agrees;
    for (std::size_t j = 0; j < adjoint_->conditions.size(); ++j)
      out_.conditions[j] =
          known ? adjoint_->conditions[j] : std::max(out_.conditions[j], adjoint_->conditions[j]);
  }
}

template <class T>
void KrylovSchur<T>::conclude() {
  auto& r = out_;
  r.iterations = basis_.steps(), r.norm = accept_.norm, r.seconds = basis_.seconds();
  if (found_applications_ > 0) r.verification_applications = basis_.applications() - found_applications_;
  index_t asked_of_adjoint = 0;
  if (adjoint_) asked_of_adjoint += adjoint_->operator_applications;
  if (companion_) asked_of_adjoint += companion_->operator_applications;
  r.verification_applications += asked_of_adjoint;
  r.operator_applications = basis_.applications() + extra_applications_ + asked_of_adjoint;
  GeneralVerdict v;
  v.whole = r.verification == Verification::all_computed;
  if (companion_) v.companion = companion_->finding;
  if (adjoint_) v.adjoint = adjoint_->finding;
  v.displaced = !nearest_hold(), v.inside = is_inside();
  ts::solvers::conclude(r, v, nev_);
}

namespace {

/// Why a set whose pairs have converged is not vouched for.
std::string doubt(const GeneralResult& r, const GeneralVerdict& v) {
  constexpr const char* compute_all = "--method dense computes the whole spectrum";
  using Asked = AdjointCheck::Finding;
  if (v.displaced)
    return ", but the shift that had to be moved is too far from the target to tell whether they are the "
           "nearest to it: choose another --sigma";
  if (v.inside)
    return std::string(
               ", but the smallest imaginary parts lie inside of the spectrum, where no search can "
               "tell that none is missing: ") +
           compute_all + ", --sigma seeks near a number";
  if (v.companion == Companion::Finding::missing)
    return ", but a Hermitian matrix with the same eigenvectors has others before them: raise --max-basis";
  if (v.companion)
    return ", but a Hermitian matrix with the same eigenvectors, which tells whether others come before "
           "them, could not be solved";
  if (v.adjoint == Asked::others)
    return std::string(
               ", but a search with the adjoint matrix finds other eigenvalues, as happens far from "
               "normal: ") +
           compute_all;
  if (v.adjoint == Asked::unfinished)
    return std::string(
               ", but a search with the adjoint matrix did not converge: raise --max-iter or "
               "--max-basis; ") +
           compute_all;
  if (r.verification != Verification::random_block)
    return ", but the block steps allowed ended before a search for missing values did: raise --max-iter";
  return std::string(
             ", and fresh random blocks find no others; but of a matrix that is not normal no search "
             "can tell that none is missing: ") +
         compute_all;
}

std::string reason_of(const GeneralResult& r, const GeneralVerdict& v, index_t nev, double worst,
                      double moved) {
  const auto wanted = static_cast<index_t>(r.values.size());
  std::string text =
      std::to_string(r.converged_count) + " of " + std::to_string(std::max(wanted, nev)) + " pairs converged";
  if (wanted > nev) text += " (one more than asked for, so as not to separate a conjugate pair)";
  if (r.stop == StopReason::max_iterations)
    text += " within the block steps allowed: raise --max-iter or --max-basis";
  if (r.stop == StopReason::interrupted) text += "; stopped on request";
  if (r.stop == StopReason::rounding) text += "; residuals do not get smaller: ask for a larger --tol";
  if (r.stop == StopReason::not_verified) text += doubt(r, v);
  if (r.verified && v.whole) text += "; complete, for the whole spectrum was computed";
  if (r.verified && !v.whole)
    text +=
        "; complete as far as block Lanczos can tell for a Hermitian matrix with the same eigenvectors, as "
        "there is one where A A^H = A^H A";
  if (!(moved < hopeless))
    text +=
        "; the matrix is so far from normal that rounding decides where these eigenvalues are: none can be "
        "vouched for";
  else if (!(worst < doubtful))
    text +=
        "; eigenvalues are ill-conditioned: errors may be larger than the residuals by the numbers given as "
        "conditions";
  return text;
}

}  // namespace

void conclude(GeneralResult& r, const GeneralVerdict& v, index_t nev) {
  const auto wanted = static_cast<index_t>(r.values.size());
  r.converged = r.converged_count == wanted && wanted >= nev;
  if (r.converged && r.stop == StopReason::rounding) r.stop = StopReason::converged;
  if (!r.converged && r.stop == StopReason::converged) r.stop = StopReason::rounding;
  double worst = 1;
  for (const double condition : r.conditions)
    worst = std::isnan(condition) ? inf : std::max(worst, condition);
  const double moved = v.amplification.value_or(worst);
  const bool proved = v.whole || (v.companion == Companion::Finding::agrees && !v.displaced);
  if (proved && !v.whole) r.verification = Verification::normal;
  r.verified = r.converged && r.verification != Verification::none && proved && moved < hopeless;
  if (r.converged && r.verification != Verification::none && !proved && r.stop == StopReason::converged)
    r.stop = StopReason::not_verified;
  if (v.companion == Companion::Finding::interrupted || v.adjoint == AdjointCheck::Finding::interrupted)
    r.stop = StopReason::interrupted, r.verified = false;
  r.reason = reason_of(r, v, nev, worst, moved);
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
