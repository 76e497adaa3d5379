#include "tallskinny/solvers/eigen/hermitian/solve.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tallskinny/solvers/eigen/hermitian/both_ends.hpp"
#include "tallskinny/solvers/eigen/hermitian/dense.hpp"
#include "tallskinny/solvers/eigen/hermitian/lobpcg.hpp"
#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"
#include "tallskinny/solvers/eigen/hermitian/reason.hpp"
#include "tallskinny/solvers/eigen/hermitian/sides.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/eigen/values/raised_basis.hpp"
#include "tallskinny/solvers/one_rank.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Lanczos or LOBPCG, with residuals from A at the end. Iterated::beyond, where it leaves LM or BE to runs at the ends.
template <class T, class Solver>
Ends solve_iteratively(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options, Solver solver,
                       EigenResult<T>& result) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto outcome = run(solver);
    if (outcome.beyond.total() > 0) return outcome.beyond;
    auto accept = acceptance_of(options, result.norm, all_rows(ctx, problem.a.rows()));
    accept.steps = result.iterations;
    finish<T>(ctx, problem, options, accept, std::move(outcome.vectors), outcome.next_value, result);
    result.stop = outcome.stop, result.verification = outcome.verification, result.end_known = outcome.end_known;
    if (outcome.evidence) {
      auto rising = result.values;
      std::sort(rising.begin(), rising.end());
      if (!outcome.evidence->holds_for(rising)) result.verification = Verification::none;
    }
    if (outcome.stop != StopReason::converged || result.converged) break;
    // Estimates were met but the residuals from A are not: ask for more.
    tighten(solver);
    result.stop = StopReason::rounding;
  }
  return {};
}

/// Where an end of the spectrum is reached through an inverse, there is nothing left for float32 to save.
template <class T>
bool inverts_at_once(const EigenProblem<T>& problem, const EigenOptions& options, const EigenPlan& plan) {
  return options.method == Method::automatic && options.which != Which::SM && problem.invert && problem.count_below &&
         ways_of(problem, problem.a.rows(), plan).inverse_at_once();
}

template <class T>
void expect_narrow(const EigenProblem<T>& problem, const EigenOptions& options, const Checkpointing<T>& checkpointing) {
  expects(options.precision == Precision::mixed || options.convergence == Convergence::abs ||
              options.tol >= float32_tolerance,
          "`tol` is below 3.8e-06, which is the least that `precision` float32 reaches: give a larger one, or "
          "take `precision` mixed");
  expects(!problem.target && !problem.inverse && !is_preconditioned(options.method),
          "`precision` float32 and mixed go with block Lanczos on products with the matrix: without a target, "
          "and not with LOBPCG or Davidson");
  expects(!checkpointing.write && checkpointing.resume == nullptr, "`precision` float32 and mixed keep no checkpoints");
}

template <class T>
void expect_solvable(const EigenProblem<T>& problem, const EigenOptions& options, const EigenPlan& plan,
                     const Checkpointing<T>& checkpointing) {
  expects((options.which != Which::SM && !problem.target) || problem.inverse || plan.method == Method::dense,
          "eigenvalues near a target are sought through a factorisation: the problem needs `inverse`");
  const bool preconditioned = is_preconditioned(options.method);
  expects(!preconditioned || options.which == Which::SA || options.which == Which::LA,
          "LOBPCG and Davidson seek the lowest or the highest eigenvalues: `which` SA or LA");
  expects(!preconditioned || (!checkpointing.write && checkpointing.resume == nullptr),
          "LOBPCG and Davidson keep no checkpoints");
  if (options.precision != Precision::float64) expect_narrow(problem, options, checkpointing);
}

/// What rows on several ranks do not go with. @param n rows of all ranks.
template <class T>
void expect_distributable(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                          const EigenPlan& plan, index_t n) {
  if (ctx.communicator->size() == 1) return;
  expects(problem.a.rows() == ctx.slabs.rows(ctx.communicator->rank()),
          "the operator has another number of rows than Context::slabs gives this rank");
  if (plan.method == Method::dense) expects_one_rank(ctx, "the dense solver");
  if (options.spills) expects_one_rank(ctx, "a basis that spills into host memory");
  constexpr index_t alone = 1000;
  expects(n > alone || options.max_iterations > 0,
          "a matrix of up to 1000 rows, which a dense solver may take over, is solved on one rank: give each rank a "
          "Context of its own, or set `max_iterations`");
}

/// A result without pairs, complete for this reason. @param rows here.
template <class T>
EigenResult<T> none_there(index_t rows, Verification how, std::string_view reason) {
  EigenResult<T> result;
  result.next_value = result.gap = nan;
  result.vectors = Matrix<T>(rows, 0);
  result.converged = result.verified = true;
  result.verification = how, result.stop = StopReason::converged;
  result.reason = reason;
  return result;
}

/// By the plan's method.
template <class T>
void solve_by_plan(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                   const EigenPlan& plan, HostView<const T> initial, const Checkpointing<T>& checkpointing,
                   EigenResult<T>& result) {
  if (plan.method == Method::dense) return solve_dense(ctx, problem, options, plan.nev, result);
  auto o = options;
  o.nev = plan.nev;
  if (is_preconditioned(plan.method))
    solve_iteratively(ctx, problem, o, Lobpcg<T>(ctx, problem, o, plan, initial, result), result);
  else if (o.precision != Precision::float64 && !inverts_at_once(problem, options, plan))
    solve_iteratively(ctx, problem, o, NarrowLanczos<T>(ctx, problem, o, plan, initial, result), result);
  else if (const Ends beyond = solve_iteratively(
               ctx, problem, o, Lanczos<T>(ctx, problem, o, plan, initial, checkpointing, result), result);
           beyond.total() > 0)
    solve_both_ends(ctx, problem, o, beyond, initial, result);
}

/// What the result of an iteration is worth: stop, verified, and what stands against it.
template <class T>
void weigh(const EigenProblem<T>& problem, const EigenOptions& options, index_t n, bool iterated, Circumstances& of,
           EigenResult<T>& result) {
  if (result.stop == StopReason::converged && !result.converged) result.stop = StopReason::rounding;
  result.verified = result.converged && result.verification != Verification::none;
  of.hidden = options.precision == Precision::float32 && result.narrow_applications > 0 && options.verify &&
              result.converged && !result.verified;
  if (of.hidden && result.stop == StopReason::converged) result.stop = StopReason::not_verified;
  of.undecided = iterated && of.sides &&
                 (static_cast<index_t>(result.values.size()) < of.there || reaches_target(result, *problem.target));
  of.displaced =
      result.verified && iterated && !(of.sides ? sides_hold(problem) : nearest_hold(result, problem, options, n));
  if (of.displaced || of.undecided) result.verified = false, result.stop = StopReason::not_verified;
}

}  // namespace

template <class T>
EigenResult<T> solve_eigen(const Context& context, const EigenProblem<T>& problem, const EigenOptions& options,
                           HostView<const T> initial, const Checkpointing<T>& checkpointing) {
  const UseHostMemory use(context.host_memory);
  expects_place_of_results(context, options);
  const index_t here = problem.a.rows(), n = all_rows(context, here);
  expects(initial.cols() == 0 || initial.rows() == here,
          "the block of initial vectors has another number of rows than the matrix");
  const double entries = static_cast<double>(problem.a.facts().entries), of_dense = static_cast<double>(n * n);
  EigenPlan plan = plan_eigen(n, sizeof(T), options, initial.cols(), entries == of_dense ? of_dense : 0);
  if (n == 0) return none_there<T>(0, Verification::all_computed, "the matrix has no rows, so no eigenvalues");
  expect_distributable(context, problem, options, plan, n);
  if (here != n && options.max_iterations == 0) plan.max_iterations = most_block_steps;
  expect_solvable(problem, options, plan, checkpointing);
  const bool iterates = plan.method != Method::dense;
  if (iterates && plan.method != Method::lobpcg) tell_raised_basis(context, options.max_basis, plan.max_basis);
  Context ctx = context;
  if (here < threaded_rows && iterates) ctx.threads = 1;

  Circumstances of{plan.nev, seeks_sides(options, problem.target)};
  of.there = plan.nev;
  if (const auto sides = of.sides && iterates ? count_sides(ctx, problem, options, n) : std::nullopt) {
    const Ends wanted = sides_of(options.which, plan.nev);
    of.there = std::min(wanted.low, sides->low) + std::min(wanted.high, sides->high);
    if (options.which != Which::BE) plan.nev = of.there;
  }
  if (plan.nev == 0)
    return none_there<T>(here, Verification::inertia,
                         std::string("no eigenvalue lies ") + (options.which == Which::SA ? "below" : "above") +
                             " the target, as the inertia of an LDL^H factorisation shows");
  EigenResult<T> result;
  result.next_value = result.gap = nan;
  const bool chosen_after = of.sides && iterates;  // among the pairs that were found
  EigenOptions inner = options;
  if (chosen_after) inner.results = Results::on_host;
  solve_by_plan(ctx, problem, inner, plan, initial, checkpointing, result);
  if (chosen_after) keep_sides(problem, options, n, result);
  weigh(problem, options, n, iterates, of, result);
  const bool may_take_over =
      options.verify && options.max_iterations == 0 && n <= takeover_rows && context.communicator->size() == 1;
  if (may_take_over && iterates && !result.verified && result.stop != StopReason::interrupted) {
    solve_dense(context, problem, options, of.asked, result);
    result.taken_over = true, result.verified = result.converged, of.displaced = of.hidden = of.undecided = false;
    if (!result.converged) result.stop = StopReason::rounding;
  }
  if (of.sides ? fills_a_side(result, options, *problem.target) : options.nev < n) {
    const auto centre = centre_of(options, problem.target);
    result.cut_off = copies_cut_off(result, n, centre);
    if (result.verified && options.which != Which::BE) count_copies(problem, centre, result);
  }
  if (result.verified) sharpen_error_bounds<T>(result, distance_outside(result, options, problem.target, n));
  if (options.results == Results::on_device && result.vectors.cols() > 0) leave_on_device(context, result);
  explain(options, of, n, result);
  return result;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_eigen)

}  // namespace ts::inline v0::solvers
