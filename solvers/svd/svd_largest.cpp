// The largest singular values: eigenvectors of A^H A, and what its squares cannot tell by deflation.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/solvers/svd/svd_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Up to this many columns the Gram matrix of a dense matrix is formed.
constexpr index_t gram_columns = 4096;
/// Rounds of taking out what is known; each leaves a thousandth of the norm, or finds what was missing.
constexpr index_t most_rounds = 40;
/// Below this times ||A||, or times what cancels in its products, nothing is left but rounding.
constexpr double noise_share = 1e3 * unit_roundoff;

}  // namespace

template <class T>
void SvdSolver<T>::by_gram() {
  const index_t n = a_.cols;
  Matrix<T> g;
  EigenProblem<T> problem{gram_operator(a_)};
  if (a_.gram && n <= gram_columns) {
    g = Matrix<T>(n, n);
    a_.gram(ctx_, g.view());
    problem.a = DenseOperator<T>(g.cview());
  }
  norm_ = 1;
  if (options_.convergence == Convergence::abs)
    norm_ = std::sqrt(estimate_norm(ctx_, problem.a, options_.seed, out_.triplets.operator_applications));
  auto options = options_for(norm_ > 0 ? norm_ : 1);
  solve(problem, options);
  norm_ = std::sqrt(out_.triplets.norm);
  const auto v = std::move(out_.triplets.vectors);
  refine(v.cview());
}

template <class T>
void SvdSolver<T>::by_deflation() {
  auto& t = out_.triplets;
  out_.stage = SvdStage::deflated;
  double norm = norm_;  // of what was decomposed last
  auto weakest = verification_;
  verification_ = Verification::none;
  for (index_t round = 0, before = -1;; ++round) {
    const auto accept = acceptance();
    index_t known = 0;
    while (known < static_cast<index_t>(t.values.size()) && t.values[at(known)] >= resolved_share * norm &&
           t.residual_norms[at(known)] <= accept.bound(t.values[at(known)]))
      ++known;
    if (round == most_rounds || (known <= before && known < wanted_)) return;
    before = known;
    const auto u = copy_at<T>(ctx_, a_.space, out_.left.cview().cols(0, known)),
               v = copy_at<T>(ctx_, a_.space, t.vectors.cview().cols(0, known));
    const auto rest = deflated<T>(a_, u.cview(), v.cview());
    norm = known == a_.cols ? 0 : norm_of(rest);
    if (norm <= std::max(noise_share * scale(), accept.rounding() / 2)) {
      next_ = norm;
      refine(v.cview());
      t.stop = StopReason::converged;
      if (weakest != Verification::none) verification_ = Verification::random_block;
      return;
    }
    auto options = options_for(norm);
    options.nev = std::max<index_t>(1, wanted_ - known);
    solve(EigenProblem<T>{gram_operator(rest)}, options);
    if (verification_ == Verification::none) weakest = Verification::none;
    verification_ = Verification::none;
    norm = std::max(norm, t.values.empty() ? 0 : std::sqrt(std::max(t.values.front(), 0.0)));
    const double next = known == wanted_ ? norm : next_;
    const auto more = std::move(t.vectors);
    refine(beside<T>(ctx_, v.cview(), more.cview()).cview());
    next_ = next;
    if (t.stop == StopReason::interrupted || weakest == Verification::none) return;
    const double last = t.values.back();
    if (settled(norm) || (known == wanted_ && residuals_met() && norm <= last + accept.bound(last))) {
      verification_ = weakest;
      return;
    }
  }
}

#define TS_INSTANTIATE(T)                \
  template void SvdSolver<T>::by_gram(); \
  template void SvdSolver<T>::by_deflation();
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
