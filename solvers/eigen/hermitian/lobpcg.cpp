#include "tallskinny/solvers/eigen/hermitian/lobpcg.hpp"

#include <algorithm>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/transform/inertia.hpp"
#include "tallskinny/solvers/random_block.hpp"

namespace ts::inline v0::solvers {

namespace {

constexpr index_t verification_block = 8;

/// Columns that the basis of Davidson grows to; 0: LOBPCG.
index_t limit_of(const EigenPlan& plan) { return plan.method == Method::davidson ? plan.max_basis : 0; }

}  // namespace

template <class T>
Lobpcg<T>::Lobpcg(const Context& context, const EigenProblem<T>& to_solve, const EigenOptions& asked,
                  const EigenPlan& sizes, HostView<const T> start, EigenResult<T>& result)
    : ctx(context),
      problem(to_solve),
      options(asked),
      plan(sizes),
      initial(start),
      record(result),
      sign(options.which == Which::SA ? 1 : -1),
      basis(ctx, problem, sign, plan.block_size, limit_of(plan)),
      next(nan) {
  accept.tol = options.tol, accept.convergence = options.convergence, accept.rows = all_rows(ctx, problem.a.rows());
}

namespace {

template <class T>
double ratio(const Lobpcg<T>& run, index_t j) {
  return run.accept.ratio(run.basis.values()[at(j)], run.basis.residuals()[at(j)]);
}

/// Positive where `value` lies further inside of the spectrum than `than`.
template <class T>
double inwards(const Lobpcg<T>& run, double value, double than) {
  return run.sign * (value - than);
}

/// A step from the pairs that are not converged; false when nothing new could be appended.
template <class T>
bool step(Lobpcg<T>& run) {
  const bool grows = limit_of(run.plan) > 0;
  std::vector<index_t> active;
  for (index_t j = 0; j < run.basis.width(); ++j)
    if (ratio(run, j) > 1) active.push_back(j);
  if (grows) active.resize(std::min(active.size(), at(run.plan.block_size)));
  return run.basis.expand(active);
}

template <class T>
Stage may_step(Lobpcg<T>& run) {
  if (any_rank(run.ctx, run.options.stop && run.options.stop())) return Stage::interrupted;
  return run.basis.work().steps >= run.plan.max_iterations ? Stage::budget : Stage::reached;
}

/// Writes a look at the Ritz values into the history; how many are converged.
template <class T>
index_t look(Lobpcg<T>& run, bool verifying) {
  std::vector<double> ratios;
  for (index_t j = 0; j < std::min(run.plan.nev, run.basis.width()) && !verifying; ++j) ratios.push_back(ratio(run, j));
  return note_look(run.basis.work(), std::move(ratios), verifying, run.options, run.plan.max_iterations, run.plan.nev,
                   run.record.history);
}

template <class T>
Stage search(Lobpcg<T>& run) {
  for (;;) {
    if (look(run, false) >= run.plan.nev) return Stage::reached;
    const Stage stage = may_step(run);
    if (stage != Stage::reached) return stage;
    if (!step(run)) return Stage::stagnated;
  }
}

/// With a factorisation at hand: is the number of eigenvalues beyond the last wanted value what was found?
template <class T>
CountVerdict count_settles(const Lobpcg<T>& run) {
  if (!run.problem.count_below) return {};
  const auto &values = run.basis.values(), &residuals = run.basis.residuals();
  const index_t nev = run.plan.nev;
  FoundSet found;
  found.n = run.accept.rows, found.norm = run.accept.norm;
  found.values.assign(values.begin(), values.begin() + nev);
  found.errors.assign(residuals.begin(), residuals.begin() + nev);
  for (const double v : found.values) found.tolerance = std::max(found.tolerance, run.accept.bound(v));
  const double next = nev < run.basis.width() ? values[at(nev)] : nan;
  Ends ends{nev, 0};
  if (run.sign < 0) {
    std::reverse(found.values.begin(), found.values.end());
    std::reverse(found.errors.begin(), found.errors.end());
    found.next_high = next, ends = {0, nev};
  } else {
    found.next_low = next;
  }
  return count_ends(found, run.options.which, ends, run.problem.count_below);
}

/// Steps from a fresh random block, until it shows that nothing comes before the threshold, or that something
/// does. @param hidden how far pairs that are locked may move an eigenvalue.
template <class T>
Stage run_cycle(Lobpcg<T>& run, double threshold, double slack, double hidden) {
  const index_t width = std::min(verification_block, run.accept.rows - run.basis.locked());
  const double trust = trust_factor(width);
  PlacedMatrix<T> block(run.ctx, run.problem.a.space(), run.problem.a.rows(), width);
  fill_random<T>(run.ctx, run.options.seed, ++run.stream, block.view());
  run.basis.start(block.cview());
  ++run.record.verification_rounds;
  for (;;) {
    look(run, true);
    if (run.basis.width() == 0) return Stage::reached;  // nothing is left outside
    const double leading = run.basis.values().front(), r = run.basis.residuals().front();
    const double distance = inwards(run, leading, threshold);
    if (distance < -slack) return Stage::entered;
    const bool copy = distance <= slack && run.accept.ratio_of_copy(leading, r) <= 1;
    if ((r <= trust * distance && hidden <= 0.5 * distance) || copy || run.accept.ratio(leading, r) <= 1)
      return Stage::reached;
    const Stage stage = may_step(run);
    if (stage != Stage::reached) return stage;
    if (!step(run)) return Stage::reached;
  }
}

/// A fresh random block in the complement of what is found.
template <class T>
Stage verify(Lobpcg<T>& run) {
  RitzBasis<T>& basis = run.basis;
  basis.settle();
  const index_t nev = run.plan.nev;
  auto values = basis.values(), residuals = basis.residuals();
  const double threshold = values[at(nev - 1)];
  const double slack = std::max(100 * unit_roundoff * run.accept.norm, residuals[at(nev - 1)]);
  // Guards whose residual r is small against their distance d are locked as well: they hide at most r^2 / d.
  index_t locked = nev;
  double hidden = 0;
  for (; locked < basis.width(); ++locked) {
    const double d = inwards(run, values[at(locked)], threshold), r = residuals[at(locked)];
    if (!(ratio(run, locked) <= 1 || r <= 0.1 * d)) break;
    if (d > slack) hidden += r * r / d;
  }
  const PlacedMatrix<T> others = basis.lock(locked);
  const Stage stage = run_cycle(run, threshold, slack, hidden);
  const double outside = basis.width() > 0 ? basis.values().front() : nan;
  basis.settle();
  basis.unlock(locked);
  if (stage == Stage::entered) {  // the block stays this much wider
    basis.project(basis.width());
    const index_t width = basis.width();
    PlacedMatrix<T> wider(run.ctx, others.space(), others.rows(), width + others.cols());
    ortho::copy_block<T>(run.ctx, basis.leading(width), wider.view().cols(0, width));
    ortho::copy_block<T>(run.ctx, others.cview(), wider.view().cols(width, others.cols()));
    basis.start(wider.cview());
    return stage;
  }
  values.resize(at(locked)), residuals.resize(at(locked));
  run.next = locked > nev && inwards(run, values[at(nev)], outside) < 0 ? values[at(nev)] : outside;
  basis.keep(std::move(values), std::move(residuals));
  return stage;
}

template <class T>
void start(Lobpcg<T>& run) {
  run.accept.norm = estimate_norm(run.ctx, run.problem.a, run.options.seed, run.basis.work().applications);
  const index_t least = limit_of(run.plan) > 0 ? with_guards(run.plan.nev) : run.plan.block_size;
  PlacedMatrix<T> block(run.ctx, run.problem.a.space(), run.problem.a.rows(), std::max(least, run.initial.cols()));
  fill_random<T>(run.ctx, run.options.seed, run.stream, block.view());
  if (run.initial.cols() > 0) ortho::copy_block<T>(run.ctx, run.initial, block.view().cols(0, run.initial.cols()));
  run.basis.prepare(block.cols(), verification_block);
  run.basis.start(block.cview());
}

/// Search and verification in turns.
template <class T>
void iterate(Lobpcg<T>& run, Iterated<T>& out) {
  for (;;) {
    Stage stage = search(run);
    out.stop = stop_of(stage, false);
    if (stage != Stage::reached) return;
    run.found_at = run.basis.work().applications;
    if (run.plan.nev < run.basis.width()) run.next = run.basis.values()[at(run.plan.nev)];
    out.end_known = false;
    if (!run.options.verify) return;
    if (const CountVerdict counted = count_settles(run); counted.complete) {
      out.verification = Verification::inertia, out.end_known = counted.apart;
      return;
    }
    stage = verify(run);
    if (stage == Stage::entered) continue;
    out.stop = stop_of(stage, true);
    if (stage == Stage::reached) out.verification = Verification::random_block, out.end_known = true;
    return;
  }
}

}  // namespace

template <class T>
Iterated<T> run(Lobpcg<T>& run) {
  if (run.basis.width() == 0) start(run);
  Iterated<T> out;
  iterate(run, out);
  run.basis.settle();
  const KrylovWork& done = run.basis.work();
  EigenResult<T>& record = run.record;
  record.iterations = done.steps, record.dead_directions = done.dead, record.norm = run.accept.norm;
  record.operator_applications = done.applications;
  if (run.found_at > 0) record.verification_applications = done.applications - run.found_at;
  out.vectors = Matrix<T>(run.problem.a.rows(), std::min(run.plan.nev, run.basis.width()));
  ortho::copy_block<T>(run.ctx, run.basis.leading(out.vectors.cols()), out.vectors.view());
  out.next_value = out.end_known ? run.next : nan;
  return out;
}

#define TS_INSTANTIATE(T) template Iterated<T> run<T>(Lobpcg<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_SOLVER_TYPE(TS_STRUCT, Lobpcg)

}  // namespace ts::inline v0::solvers
