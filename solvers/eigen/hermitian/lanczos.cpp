#include "tallskinny/solvers/eigen/hermitian/lanczos.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/hermitian/lanczos_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Before a refinement in float64, estimates in float32 may go on falling below rounding, to this fraction of
/// their bound. What is then left is rounding, spread over all directions, which float64 removes in few
/// steps, and little of the slow directions at the edge of the set.
constexpr double far_below_rounding = 1.0 / 256;

}  // namespace

template <class T>
Lanczos<T>::Lanczos(const Context& context, const EigenProblem<T>& to_solve, const EigenOptions& asked,
                    const EigenPlan& sizes, PlacedView<const T> start, const Checkpointing<T>& checkpoints,
                    EigenResult<T>& result)
    : ctx(context),
      problem(to_solve),
      options(asked),
      plan(sizes),
      // As wide as leaves place for two block steps after a restart (keep_limit).
      initial(start.cols(0, std::min(start.cols(), (plan.max_basis + plan.block_size - plan.nev) / 3))),
      checkpointing(checkpoints),
      record(result),
      ways(ways_of(problem, all_rows(ctx, problem.a.rows()), plan)),
      krylov(ctx, problem.inverse ? *problem.inverse : problem.a, plan.max_basis + plan.block_size, options.seed, true,
             options.spills),
      random_columns(std::max<index_t>(0, plan.block_size - initial.cols())) {
  const bool near = options.which == Which::SM || (problem.inverse && options.which == Which::LM);
  pairs.which = near ? Which::LM : options.which;
  accept.convergence = options.convergence, accept.rows = krylov.all_rows();
  accept.roundoff = roundoff_of<T>;
  if (is_narrow<T> && options.precision == Precision::float32) accept.least = 0.5 * float32_tolerance;
  if (problem.inverse) accept.transform.kind = SpectralTransform::Kind::inverse, accept.transform.sigma = problem.shift;
  if (checkpointing.resume != nullptr) {
    StateArchive<T> archive(*checkpointing.resume);
    exchange(*this, archive);
    course.resumed = true;
  }
}

namespace {

/// The wanted pairs are converged: what is known of those outside, and when the search came here first.
template <class T>
void note_found(Lanczos<T>& run) {
  LanczosCourse& course = run.course;
  WantedPairs<T>& pairs = run.pairs;
  if (course.search_steps == 0) {
    course.search_steps = run.krylov.work().steps;
    course.search_applications = run.krylov.work().applications;
    course.refine_until = course.search_steps + course.search_steps / 5 + 2;
  }
  if (!pairs.has_outside()) return;
  pairs.next_low = pairs.ritz.values[at(pairs.first_low())];
  pairs.next_high = pairs.ritz.values[at(pairs.first_high())];
}

/// Of float32, which float64 refines: may its search go on, far below its own rounding?
template <class T>
bool may_refine(const Lanczos<T>& run) {
  // (Where no block step may follow a search would end where it began.)
  return is_narrow<T> && run.options.precision == Precision::mixed && !run.course.ended &&
         run.krylov.work().steps < run.course.refine_until && run.record.history.back().worst > far_below_rounding;
}

/// The search goes on for the sake of completeness while that promises to take a few steps only: the rate at
/// which residuals have fallen so far tells how many.
template <class T>
bool search_may_settle(const Lanczos<T>& run, double shortfall) {
  constexpr double share = 0.2;
  if (run.course.ended || run.krylov.work().steps >= run.course.refine_until) return false;
  const double smallest = run.accept.bound(run.accept.norm) / run.accept.norm;
  return std::log(shortfall) <= share * -std::log(smallest);
}

/// Runs the verification cycle to its end; true when that ends the run.
template <class T>
bool finish_cycle(Lanczos<T>& run, Iterated<T>& out) {
  const Stage stage = verify(run);
  run.pairs.ritz = ritz_of(run.krylov);
  run.pairs.ends = wanted_ends(run.pairs.ritz.values, run.pairs.which, run.plan.nev);
  out.stop = stop_of(stage, true);
  if (stage == Stage::reached) out.verification = Verification::random_block, out.end_known = true;
  if (stage != Stage::entered) return true;
  run.course.search_steps = 0;
  begin_search(run);
  return false;
}

/// Is a set that was found complete, by anything but a cycle from a fresh random block? Says whether the end of the set
/// is known, too: a count within a cluster does not tell what follows, but a search that resolves it does.
/// @param shortfall see search_shortfall.
template <class T>
Verification settled(const Lanczos<T>& run, double shortfall, bool& end_known) {
  end_known = true;
  if (run.krylov.exhausted()) return Verification::all_computed;
  end_known = shortfall <= 1;
  if (!run.options.verify) return Verification::none;
  const bool witness = end_known && !may_refine(run);
  const bool through = run.accept.transform.kind == SpectralTransform::Kind::inverse;
  if (witness && !run.ways.counts_cost_little(through, run.krylov.work().steps)) return Verification::start_block;
  if (const CountVerdict counted = count_settles(run); counted.complete) {
    end_known = end_known || counted.apart;
    return Verification::inertia;
  }
  if (may_refine(run)) return Verification::none;
  if (run.before.holds_for(wanted_values(run.pairs, run.accept.transform))) return run.before.how;
  return shortfall <= 1 ? Verification::start_block : Verification::none;
}

/// Search and verification in turns.
template <class T>
void iterate(Lanczos<T>& run, Iterated<T>& out) {
  for (;;) {
    if (run.cycle.running) {  // taken up in the middle
      if (finish_cycle(run, out)) return;
      continue;
    }
    const Stage stage = search(run);
    out.stop = stop_of(stage, false);
    if (stage != Stage::reached) return;
    note_found(run);
    const double shortfall =
        search_shortfall(run.pairs, run.accept, run.random_columns, slack_of(run.pairs, run.krylov.rounding()));
    out.verification = settled(run, shortfall, out.end_known);
    if (out.verification != Verification::none || !run.options.verify) return;
    const bool refines = may_refine(run);
    if (refines) run.course.search_applications = run.krylov.work().applications;
    if (refines || search_may_settle(run, shortfall)) {
      begin_search(run);
      continue;
    }
    // The Ritz vectors wanted are still coefficients of the basis; verification restarts it.
    begin_verification(run);
    if (finish_cycle(run, out)) return;
  }
}

}  // namespace

template <class T>
Iterated<T> run(Lanczos<T>& run) {
  KrylovFactorisation<T>& krylov = run.krylov;
  Acceptance& accept = run.accept;
  LanczosCourse& course = run.course;
  accept.tol = run.options.tol * course.tol_factor;
  Iterated<T> out;
  if (!course.resumed) {
    course.search_steps = 0;
    if (!course.started) {
      if (leave_to_ends(run)) {
        out.beyond = course.beyond;
        return out;
      }
      if (!accept.transformed()) (void)take_inverse(run, run.ways.krylov.total());
      if (accept.transformed() && run.within.norm == 0)
        run.within = estimate_ends(run.ctx, run.problem.a, run.options.seed, course.norm_applications);
      if (accept.transformed()) accept.norm = run.within.norm;
      krylov.start(run.initial, run.plan.block_size);
      course.started = true;
    }
    begin_search(run);
  }
  course.resumed = false;
  iterate(run, out);
  run.how = out.verification;

  const KrylovWork& done = krylov.work();
  EigenResult<T>& record = run.record;
  record.iterations = done.steps, record.dead_directions = done.dead;
  record.seconds = done.seconds, record.norm = accept.norm;
  if (course.search_steps > 0) record.verification_applications = done.applications - course.search_applications;
  const SpectralTransform& transform = accept.transform;
  record.filter_degree = transform.kind == SpectralTransform::Kind::chebyshev ? transform.degree : 0;
  if (transform.kind == SpectralTransform::Kind::inverse) record.shift = transform.sigma;
  record.operator_applications = course.norm_applications + done.applications;
  out.beyond = course.beyond;
  if (out.beyond.total() > 0) return out;
  out.vectors = leading_vectors(run, 0);
  out.next_value = out.end_known ? next_outside(run.pairs, transform) : nan;
  return out;
}

#define TS_INSTANTIATE(T) template Iterated<T> run<T>(Lanczos<T>&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_STRUCT, Lanczos)

}  // namespace ts::inline v0::solvers
