// What block Krylov-Schur hands back: vectors, residuals from A, and what A^H says of them.
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/general/krylov_schur_detail.hpp"
#include "tallskinny/solvers/eigen/small/parts.hpp"

namespace ts::inline v0::solvers {

namespace {

/// X = V Y, through an inverse X = V Y + F B Y / nu (a step of inverse iteration), in parts.
template <class T>
Matrix<T> ritz_vectors(const KrylovSchur<T>& run, index_t k) {
  const auto y = run.pairs.vectors.cview().cols(0, k);
  if (!run.problem.inverse) return combine<T>(run.krylov, parts_of<T>(y).cview()).to_host(run.ctx);
  const auto& b = run.krylov.b();
  Matrix<Complex> c(b.rows(), k);
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < c.rows(); ++i) {
      Complex sum = 0;
      for (index_t l = 0; l < b.cols(); ++l) sum += b(i, l) * y(l, j);
      c(i, j) = sum / run.schur.value(j);
    }
  return combine<T>(run.krylov, parts_of<T>(y).cview(), parts_of<T>(c.cview()).cview()).to_host(run.ctx);
}

/// The wanted pairs, and their residuals, from A.
template <class T>
void finish_run(KrylovSchur<T>& run) {
  auto& out = run.out;
  const index_t k = std::min(run.wanted, run.schur.size());
  out.values.clear(), out.converged_pairs.assign(at(k), false);
  out.conditions.assign(run.pairs.conditions.begin(), run.pairs.conditions.begin() + k);
  out.vectors = Matrix<Complex>(run.n, k);
  const auto x = ritz_vectors(run, k);
  for (index_t j = 0; j < k; ++j) {
    double squares = 0;
    for (index_t i = 0; i < run.n; ++i) squares += std::norm(whole_of(x, i, j));
    const double length = std::sqrt(squares);
    for (index_t i = 0; i < run.n; ++i) out.vectors(i, j) = whole_of(x, i, j) / length;
    // Of a matrix of zeros no rounding is acceptable, that of sigma + 1 / nu either.
    out.values.push_back(run.accept.norm > 0 ? run.eigenvalue(run.schur.value(j)) : 0);
  }
  out.residual_norms = general_residuals<T>(run.ctx, run.problem.a, out.vectors.cview(), out.values);
  run.extra_applications += x.cols();
  out.converged_count = 0;
  for (std::size_t j = 0; j < out.values.size(); ++j) {
    out.converged_pairs[j] = out.residual_norms[j] <= run.asked().bound(std::abs(out.values[j]));
    out.converged_count += out.converged_pairs[j] ? 1 : 0;
  }
}

/// What the residuals of all values were allowed to be.
template <class T>
double largest_bound(const KrylovSchur<T>& run) {
  double largest = 0;
  for (const Complex z : run.out.values) largest = std::max(largest, run.asked().bound(std::abs(z)));
  return largest;
}

/// Asks A^H, where that can say more.
template <class T>
void weigh(KrylovSchur<T>& run) {
  auto& out = run.out;
  const bool searched = out.verification == Verification::random_block && out.stop == StopReason::converged;
  if (!searched || out.converged_count < run.wanted || !run.problem.adjoint) return;
  const GeneralProblem<T> adjoint = run.problem.adjoint();
  if (is_normal<T>(run.ctx, run.problem.a, adjoint.a, run.options.common.seed)) {
    run.companion = ask_companion<T>(run.ctx, run.problem, adjoint, run.options, out, run.hints);
    out.conditions.assign(out.conditions.size(), 1.0);
  } else if (!run.left_to_dense) {
    run.adjoint = ask_adjoint<T>(run.ctx, adjoint, run.options, out, largest_bound(run));
    const auto& [finding, conditions, applications] = *run.adjoint;
    const bool known = finding == AdjointCheck::Finding::normal || finding == AdjointCheck::Finding::agrees;
    for (std::size_t j = 0; j < conditions.size(); ++j)
      out.conditions[j] = known ? conditions[j] : std::max(out.conditions[j], conditions[j]);
  }
}

/// The nearest to a shift that was moved: are they the nearest to the target as well, but for the tolerance?
template <class T>
bool nearest_found(const KrylovSchur<T>& run) {
  const auto& problem = run.problem;
  if (!problem.inverse || !problem.target || run.out.verification == Verification::all_computed) return true;
  const double moved = std::abs(problem.shift - *problem.target);
  if (moved == 0) return true;
  double farthest = 0, bound = run.accept.rounding();
  for (const Complex v : run.out.values) {
    farthest = std::max(farthest, std::abs(v - *problem.target));
    bound = std::max(bound, run.accept.bound(std::abs(v)));
  }
  if (2 * moved <= bound) return true;
  return farthest <= std::abs(run.out.next_value - Complex(problem.shift)) - moved + bound;
}

template <class T>
void conclude(KrylovSchur<T>& run) {
  const KrylovWork& done = run.krylov.work();
  auto& out = run.out;
  out.iterations = done.steps, out.norm = run.accept.norm, out.seconds = done.seconds;
  index_t of_adjoint = 0;
  if (run.adjoint) of_adjoint += run.adjoint->operator_applications;
  if (run.companion) of_adjoint += run.companion->operator_applications;
  if (run.found_applications > 0) out.verification_applications = done.applications - run.found_applications;
  out.verification_applications += of_adjoint;
  out.operator_applications = done.applications + run.extra_applications + of_adjoint;
  GeneralVerdict v;
  v.whole = out.verification == Verification::all_computed;
  if (run.companion) v.companion = run.companion->finding;
  if (run.adjoint) v.adjoint = run.adjoint->finding;
  v.displaced = !nearest_found(run), v.inside = run.is_inside();
  // No value is nearer to another than the keys of both.
  const auto key = [&run](Complex z) {
    return run.problem.inverse ? std::abs(z - Complex(run.problem.shift)) : key_of(run.options.part, z);
  };
  v.outside = [&](Complex z) { return 0.5 * (key(out.next_value) - key(z)); };
  conclude(out, v, run.nev);
}

/// The largest column of A V: ||A|| from below.
template <class T>
double norm_of_a(KrylovSchur<T>& run) {
  KrylovFactorisation<T> krylov(run.ctx, run.problem.a, norm_columns, run.options.common.seed ^ 0x9e3779b97f4a7c15u,
                                false);
  krylov.start(HostView<const T>{}, norm_block);
  while (krylov.can_expand()) krylov.expand();
  run.extra_applications += krylov.work().applications;
  return krylov.norm();
}

}  // namespace

template <class T>
GeneralResult run(KrylovSchur<T>& run) {
  auto& out = run.out;
  out.block_size = run.block, out.max_basis = run.most;
  if (run.checkpointing.resume != nullptr) {
    StateArchive<T> archive(*run.checkpointing.resume);
    exchange(run, archive);
  } else {
    if (run.problem.inverse) run.accept.norm = norm_of_a(run);
    run.krylov.start(run.initial, run.block);
  }
  for (; run.attempt < 4; ++run.attempt) {
    run.accept.tol = run.options.common.tol * std::pow(0.1, run.attempt);
    iterate(run);
    finish_run(run);
    if (out.stop != StopReason::converged || out.converged_count == run.wanted) break;
    out.stop = StopReason::rounding;  // estimates were met but the residuals from A are not
  }
  weigh(run);
  conclude(run);
  return std::move(out);
}

#define TS_INSTANTIATE(T) template GeneralResult run<T>(KrylovSchur<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::solvers
