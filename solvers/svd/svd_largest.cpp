// The largest singular values: eigenvectors of A^H A, and what its squares cannot tell by deflation.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/dense/dense_solver.hpp"
#include "tallskinny/solvers/svd/svd_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Rounds of taking out what is known; each leaves a thousandth of the norm, or finds what was missing.
constexpr index_t most_rounds = 40;
/// Below this times ||A||, or times what cancels in its products, nothing is left but rounding.
constexpr double noise_share = 1e3 * unit_roundoff;

/// A Gram matrix: a dense operator whose residuals need no twofold sums, for triplets get theirs from A.
template <class T>
struct GramMatrix {
  DenseOperator<T> g;
  [[nodiscard]] index_t rows() const noexcept { return g.rows(); }
  [[nodiscard]] Space space() const noexcept { return g.space(); }
  template <Space S>
  void apply(const Context& ctx, MatrixView<const T, S> x, MatrixView<T, S> y) const {
    g.apply(ctx, x, y);
  }
  void write(HostView<T> a) const { g.write(a); }
  [[nodiscard]] OperatorFacts facts() const { return g.facts(); }
};

}  // namespace

template <class T>
void SvdSolver<T>::by_gram() {
  const index_t n = a_.cols;
  Matrix<T> g;
  PlacedMatrix<T> there;
  EigenProblem<T> problem{gram_operator(a_)};
  if (a_.gram && n <= gram_columns) {
    g = Matrix<T>(n, n);
    a_.gram(ctx_, g.view());
    const bool on_device = a_.space == Space::device && has_cusolver(DenseTask::hermitian);
    if (on_device) there = copy_at<T>(ctx_, a_.space, g.cview());
    problem.a = GramMatrix<T>{on_device ? DenseOperator<T>(g.cview(), there.cview().template in<Space::device>())
                                        : DenseOperator<T>(g.cview())};
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
    const auto u = copy_at<T>(ctx_, a_.space, left_.cview().cols(0, known)),
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

bool svd_takes_whole(index_t rows, index_t cols, index_t wanted) noexcept {
  constexpr index_t small = 128, share = 8;
  const index_t longer = std::max(rows, cols), shorter = std::min(rows, cols);
  return shorter > small && wanted * share >= shorter && !is_tall(longer, shorter);
}

template <class T>
void SvdSolver<T>::by_whole() {
  auto& t = out_.triplets;
  Matrix<T> own;
  if (transposed_) own = as_dense(ctx_, a_).to_host(ctx_);
  const HostView<const T> a = own.empty() ? dense_ : own.cview();
  if (!ortho::all_finite(a)) throw Error(Errc::bad_input, "the matrix has values that are NaN or infinite");
  if (!by_well_conditioned_squares(a)) {
    const auto [all, by] = dense_solver<T>(ctx_.stream, a_.space, DenseTask::singular)->singular(ctx_, a);
    t.decomposed_by = by;
    norm_ = all.values.front();
    if (wanted_ < a_.cols) next_ = all.values[at(wanted_)];
    t.vectors = Matrix<T>::copy_of(all.v.cview().cols(0, wanted_));
    left_ = copy_at<T>(ctx_, a_.space, all.u.cview().cols(0, wanted_));
    t.values.assign(all.values.begin(), all.values.begin() + wanted_);
  }
  measure(copy_at<T>(ctx_, a_.space, t.vectors.cview()).cview(), left_.cview());
  verification_ = Verification::all_computed;
  t.stop = StopReason::converged, out_.stage = SvdStage::whole;
}

template <class T>
bool SvdSolver<T>::by_well_conditioned_squares(HostView<const T> a) {
  constexpr double least_share = 1.0 / 16;  // squares lose two digits at most
  constexpr double safely = 0x1p200;        // of squares
  const index_t n = a.cols(), k = wanted_;
  Matrix<T> g(n, n);
  gram(ctx_, Op::adjoint, T{1}, a, T{0}, g.view());
  const auto largest_first = [n, k](const std::vector<double>&) {
    std::vector<index_t> chosen(at(k));
    for (index_t j = 0; j < k; ++j) chosen[at(j)] = n - 1 - j;
    return chosen;
  };
  if (!ortho::all_finite(g.cview())) return false;
  const auto solver = dense_solver<T>(ctx_.stream, a_.space, DenseTask::hermitian);
  const auto decomposed = solver->hermitian(ctx_, g.cview(), k, largest_first);
  const auto& pairs = decomposed.parts;
  const double top = pairs.values.back(), last = pairs.values[at(n - k)];
  if (!(top < safely && last > 1 / safely && last >= least_share * least_share * top)) return false;

  // A v = sigma u
  Matrix<T> av(a.rows(), k);
  a_.times(ctx_, pairs.vectors.cview(), av.view());
  std::vector<double> sigma(at(k));
  column_norms(ctx_, av.cview(), std::span<double>(sigma));
  std::vector<index_t> order(at(k));
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t i, index_t j) { return sigma[at(i)] > sigma[at(j)]; });
  auto& t = out_.triplets;
  t.operator_applications += k;
  t.values.resize(at(k)), t.vectors = Matrix<T>(n, k);
  Matrix<T> left(a.rows(), k);
  for (index_t j = 0; j < k; ++j) t.values[at(j)] = sigma[at(order[at(j)])];
  parallel_for(ctx_.thread_count(), a.rows(), [&](index_t i) {
    for (index_t j = 0; j < k; ++j) {
      left(i, j) = av(i, order[at(j)]) / t.values[at(j)];
      if (i < n) t.vectors(i, j) = pairs.vectors(i, order[at(j)]);
    }
  });
  left_ = copy_at<T>(ctx_, a_.space, left.cview());
  norm_ = t.values.front();
  t.decomposed_by = decomposed.by;
  if (k < n) next_ = std::sqrt(std::max(pairs.values[at(n - 1 - k)], 0.0));
  return true;
}

#define TS_INSTANTIATE(T)                                                     \
  template void SvdSolver<T>::by_whole();                                     \
  template bool SvdSolver<T>::by_well_conditioned_squares(HostView<const T>); \
  template void SvdSolver<T>::by_gram();                                      \
  template void SvdSolver<T>::by_deflation();
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::solvers
