#include "tallskinny/solvers/eigen/solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "tallskinny/solvers/eigen/hermitian/lobpcg.hpp"
#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Below this size all eigenvalues by a dense solver take less time than an iteration.
constexpr index_t dense_rows = 256;
/// Up to this size the dense solver is taken when the basis would hold a third of the space.
constexpr index_t dense_rows_wide = 3000;
constexpr index_t default_block = 8;

/// With a target, LA and SA ask for one side of it and BE for both.
bool seeks_sides(const EigenOptions& options, std::optional<double> target) {
  return target && (options.which == Which::LA || options.which == Which::SA || options.which == Which::BE);
}

/// How many of k are wanted on each side of a target.
Ends sides_of(Which which, index_t k) {
  if (which == Which::LA) return {0, k};
  return which == Which::SA ? Ends{k, 0} : Ends{k / 2, k - k / 2};
}

/// Of rising values, those nearest to the target on its two sides. What `slack` cannot tell from the target
/// is on both, and taken once.
std::vector<index_t> nearest_on_sides(const std::vector<double>& rising, double target, Ends wanted,
                                      double slack) {
  const auto first_at = [&](double x) {
    return std::lower_bound(rising.begin(), rising.end(), x) - rising.begin();
  };
  const index_t n = static_cast<index_t>(rising.size());
  index_t above = first_at(target - slack), below = std::max(above, index_t{first_at(target + slack)});
  if (wanted.high > 0) below = above;  // LA and BE: what lies at the target counts as above
  const index_t low = std::min(wanted.low, below), high = std::min(wanted.high, n - above);
  std::vector<index_t> chosen(at(low + high));
  std::iota(chosen.begin(), chosen.begin() + low, below - low);
  std::iota(chosen.begin() + low, chosen.end(), above);
  return chosen;
}

/// Indices of the wanted among all eigenvalues, ascending by value.
std::vector<index_t> choose_from_all(const std::vector<double>& values, const EigenOptions& options,
                                     std::optional<double> target, index_t k, double& next_value) {
  const auto n = static_cast<index_t>(values.size());
  if (seeks_sides(options, target)) {
    const double norm = std::max(std::abs(values.front()), std::abs(values.back()));
    return nearest_on_sides(values, *target, sides_of(options.which, k),
                            static_cast<double>(n) * unit_roundoff * norm);
  }
  const bool nearest = options.which == Which::SM || (target && options.which == Which::LM);
  std::vector<index_t> order(values.size());
  std::iota(order.begin(), order.end(), index_t{0});
  if (!nearest && !target) {
    const Ends ends = wanted_ends(values, options.which, k);
    std::vector<index_t> chosen(order.begin(), order.begin() + ends.low);
    chosen.insert(chosen.end(), order.end() - ends.high, order.end());
    if (k < n) {
      const double low = values[at(ends.low)], high = values[at(n - 1 - ends.high)];
      const auto limits = thresholds(values, options.which, ends);
      next_value = low - limits.low < limits.high - high ? low : high;
    }
    return chosen;
  }
  // Near a target, nu = 1 / (lambda - sigma) orders as in the iteration.
  const auto nu = [&](index_t i) {
    const double d = values[at(i)] - target.value_or(0);
    return d == 0 ? std::numeric_limits<double>::infinity() : 1 / d;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](index_t a, index_t b) { return std::abs(nu(a)) > std::abs(nu(b)); });
  if (k < n) next_value = values[at(order[at(k)])];
  order.resize(at(k));
  return order;
}

template <class T>
void solve_dense(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options, index_t k,
                 EigenResult<T>& result) {
  const index_t n = problem.a.rows();
  announce_dense(options, k);
  auto dense = as_dense(ctx, problem.a);
  result.operator_applications += n;
  if (!ortho::all_finite(dense.cview()))
    throw Error(Errc::bad_input, "the matrix has values that are NaN or infinite");
  // Scaled by a power of two, so that squares neither overflow nor underflow.
  double largest = 0;
  for (index_t i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(dense.data()[i]));
  const double scale = largest > 0 ? std::exp2(std::floor(std::log2(largest))) : 1;
  for (index_t i = 0; i < n * n; ++i) dense.data()[i] /= scale;
  auto e = ortho::hermitian_eigen<T>(dense.cview());
  for (double& v : e.values) v *= scale;

  double next_value = std::numeric_limits<double>::quiet_NaN();
  const auto chosen = choose_from_all(e.values, options, problem.target, k, next_value);
  Matrix<T> x(n, static_cast<index_t>(chosen.size()));
  for (index_t j = 0; j < x.cols(); ++j)
    for (index_t i = 0; i < n; ++i) x(i, j) = e.vectors(i, chosen[at(j)]);
  Acceptance accept;
  accept.tol = options.tol, accept.convergence = options.convergence, accept.rows = n;
  accept.norm = std::max(std::abs(e.values.front()), std::abs(e.values.back()));
  auto found = options;
  found.nev = x.cols();
  finish<T>(ctx, problem, found, accept, std::move(x), next_value, result);
  result.verification = Verification::all_computed;
  result.stop = StopReason::converged;
}

/// Lanczos or LOBPCG, with residuals from A at the end.
template <class T, class Solver>
void solve_iteratively(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                       Solver solver, EigenResult<T>& result) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto outcome = solver.run(result);
    Acceptance accept;
    accept.tol = options.tol, accept.convergence = options.convergence, accept.norm = result.norm;
    accept.rows = problem.a.rows();
    finish<T>(ctx, problem, options, accept, std::move(outcome.vectors), outcome.next_value, result);
    result.stop = outcome.stop, result.verification = outcome.verification;
    if (outcome.evidence) {
      auto rising = result.values;
      std::sort(rising.begin(), rising.end());
      if (!outcome.evidence->holds_for(rising)) result.verification = Verification::none;
    }
    if (outcome.stop != StopReason::converged || result.converged) return;
    // Estimates were met but the residuals from A are not: ask for more.
    solver.tighten();
    result.stop = StopReason::rounding;
  }
}

/// A lower bound of the distance from a value of a complete set to what is not in it, from the first estimate
/// outside. Every way of verification keeps eigenvalues out of half of the gap to that.
template <class T>
std::function<double(double)> distance_outside(const EigenResult<T>& result, const EigenOptions& options,
                                               std::optional<double> target) {
  const double next = result.next_value, sigma = target.value_or(0);
  const bool near = options.which == Which::SM || (target && options.which == Which::LM);
  const bool all = static_cast<index_t>(result.values.size()) == result.vectors.rows();
  return [=, which = options.which](double theta) {
    if (all) return std::numeric_limits<double>::infinity();
    double gap = 0;
    if (near) gap = std::abs(next - sigma) - std::abs(theta - sigma);
    if (!near && !target && which == Which::LM) gap = std::abs(theta) - std::abs(next);
    if (!target && which == Which::LA) gap = theta - next;
    if (!target && which == Which::SA) gap = next - theta;
    return std::isnan(gap) ? 0 : 0.5 * gap;
  };
}

/// The nearest to a shift that was moved: are they the nearest to the target as well, but for the tolerance?
template <class T>
bool nearest_hold(const EigenResult<T>& result, const EigenProblem<T>& problem, const EigenOptions& options) {
  const double target = problem.target.value_or(0), moved = std::abs(problem.shift - target);
  const bool near = options.which == Which::SM || (problem.target && options.which == Which::LM);
  const bool all = static_cast<index_t>(result.values.size()) == result.vectors.rows();
  if (!problem.inverse || !near || moved == 0 || all) return true;
  Acceptance accept;
  accept.tol = options.tol, accept.convergence = options.convergence, accept.norm = result.norm;
  accept.rows = result.vectors.rows();
  double farthest = 0, bound = accept.rounding();
  for (const double v : result.values)
    farthest = std::max(farthest, std::abs(v - target)), bound = std::max(bound, accept.bound(v));
  if (2 * moved <= bound || farthest <= std::abs(result.next_value - problem.shift) - moved + bound)
    return true;
  // Where copies of the last value are left out, only a count tells that nothing else is nearer than they
  // are.
  const double radius = farthest - bound;
  if (radius <= 0) return true;
  if (!problem.count_below) return false;
  const auto low = problem.count_below(target - radius, bound / 2),
             high = problem.count_below(target + radius, bound / 2);
  return low && high &&
         *high - *low == std::count_if(result.values.begin(), result.values.end(),
                                       [&](double v) { return std::abs(v - target) < radius; });
}

/// Beyond infinity the inverse goes on with the other end of the spectrum: where a side of the target holds
/// fewer eigenvalues than are wanted of it, the extreme ones of the inverse are all of them, and others,
/// which are dropped.
template <class T>
void keep_sides(const EigenProblem<T>& problem, const EigenOptions& options, EigenResult<T>& result) {
  std::vector<index_t> order(result.values.size());
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](index_t a, index_t b) { return result.values[at(a)] < result.values[at(b)]; });
  std::vector<double> rising;
  rising.reserve(order.size());
  for (const index_t j : order) rising.push_back(result.values[at(j)]);
  Acceptance accept;
  accept.norm = result.norm, accept.rows = problem.a.rows();
  std::vector<index_t> kept;
  for (const index_t i :
       nearest_on_sides(rising, *problem.target, sides_of(options.which, options.nev), accept.rounding()))
    kept.push_back(order[at(i)]);
  if (kept.size() == order.size()) return;
  std::sort(kept.begin(), kept.end());
  keep_pairs(result, kept);
  result.converged = result.converged_count == static_cast<index_t>(kept.size());
}

/// A side of the target on which so few eigenvalues lie that no more can be wanted of it, by inertia. Only LA
/// and SA.
template <class T>
index_t wanted_beside(const EigenProblem<T>& problem, const EigenOptions& options, index_t k) {
  const auto facts = problem.a.facts();
  if (!problem.count_below || !std::isfinite(facts.high - facts.low)) return k;
  const double norm = std::max(std::abs(facts.low), std::abs(facts.high));
  const double away = std::max(1e-9 * norm, 2 * std::abs(problem.shift - *problem.target));
  // What lies within `away` of the target counts on both sides.
  const double limit = *problem.target + (options.which == Which::SA ? away : -away);
  const auto count = problem.count_below(limit, away / 2);
  if (!count) return k;
  return std::min(k, options.which == Which::SA ? *count : problem.a.rows() - *count);
}

/// The sides of a shift that was moved: are they those of the target? So if no eigenvalue lies at either.
template <class T>
bool sides_hold(const EigenProblem<T>& problem) {
  const double target = *problem.target, moved = std::abs(problem.shift - target);
  if (moved == 0) return true;
  if (!problem.count_below) return false;
  const auto low = problem.count_below(std::min(target, problem.shift) - moved, moved / 2);
  return low && low == problem.count_below(std::max(target, problem.shift) + moved, moved / 2);
}

/// Where an end of the spectrum may be reached through the inverse of a cheap factorisation, there is nothing
/// left for float32 to save.
template <class T>
bool factorises_cheaply(const EigenProblem<T>& problem, const EigenOptions& options) {
  const bool an_end = options.which == Which::SA || options.which == Which::LA;
  if (options.method != Method::automatic || !an_end || !problem.invert || !problem.count_below) return false;
  const auto facts = problem.a.facts();
  const double away = facts.high - facts.low;
  return std::isfinite(away) && problem.count_below(facts.low - away, away).has_value();
}

template <class T>
void expect_narrow(const EigenProblem<T>& problem, const EigenOptions& options,
                   const Checkpointing<T>& checkpointing) {
  expects(
      options.precision == Precision::mixed || options.convergence != Convergence::norm ||
          options.tol >= float32_tolerance,
      "--tol is below 3.8e-06, which is the least that --precision float32 reaches: give a larger one, or "
      "take --precision mixed");
  expects(
      !problem.target && !problem.inverse && !is_preconditioned(options.method),
      "--precision float32 and mixed go with block Lanczos on products with the matrix: without a target, "
      "and not with LOBPCG or Davidson");
  expects(!checkpointing.write && checkpointing.resume == nullptr,
          "--precision float32 and mixed keep no checkpoints");
}

/// What there is to say where a side of the target has fewer eigenvalues than were asked for.
template <class T>
std::string side_sentence(const EigenResult<T>& result, Which which, index_t asked) {
  const auto found = static_cast<index_t>(result.values.size());
  if (found >= asked) return {};
  const char* where = which == Which::SA ? "below" : which == Which::LA ? "above" : "on the sides of";
  return "; " + std::to_string(asked) + " were asked for, and only " + std::to_string(found) +
         (found == 1 ? " lies " : " lie ") + where + " the target" +
         (which == Which::BE ? ", half of them at most on each" : "");
}

std::string describe(const EigenOptions& options, StopReason stop, bool verified, Verification how,
                     index_t asked, index_t n, index_t converged, index_t wanted, bool at_rounding) {
  std::string s;
  const auto counted = std::to_string(converged) + " of " + std::to_string(wanted);
  switch (stop) {
    case StopReason::converged:
      s = counted + " pairs converged";
      break;
    case StopReason::max_iterations:
      s = counted + " pairs converged within the block steps allowed: raise --max-iter or --max-basis";
      if (options.which == Which::SA || options.which == Which::SM)
        s += ", or look near a target with --sigma";
      break;
    case StopReason::interrupted:
      s = "stopped on request with " + counted + " pairs converged";
      break;
    case StopReason::not_verified:
      s = counted +
          " pairs converged, but the block steps allowed ended before a search for missing copies did: raise "
          "--max-iter";
      break;
    case StopReason::rounding:
      s = counted +
          " pairs reach the tolerance; the residuals of the others do not get smaller: rounding of "
          "the matrix product or of the factorisation stands in the way, ask for a larger --tol";
      break;
  }
  if (verified) {
    if (how == Verification::all_computed) s += "; complete, for the whole spectrum was computed";
    if (how == Verification::inertia) s += "; complete by the inertia of an LDL^H factorisation";
    if (how == Verification::start_block)
      s += "; complete as far as a search from a random block with columns to spare can tell";
    if (how == Verification::random_block)
      s += "; complete as far as a search from fresh random blocks can tell";
  }
  if (asked > n)
    s += "; " + std::to_string(asked) + " eigenvalues were asked for, the matrix has " + std::to_string(n);
  if (at_rounding)
    s += "; the tolerance is below the rounding of the matrix product, which is what was reached";
  return s;
}

}  // namespace

std::string_view name_of(StopReason stop) noexcept {
  switch (stop) {
    case StopReason::converged:
      return "converged";
    case StopReason::max_iterations:
      return "max_iterations";
    case StopReason::interrupted:
      return "interrupted";
    case StopReason::not_verified:
      return "not_verified";
    case StopReason::rounding:
      return "rounding";
  }
  return "?";
}

std::string_view name_of(Verification how) noexcept {
  switch (how) {
    case Verification::none:
      return "none";
    case Verification::all_computed:
      return "all_computed";
    case Verification::inertia:
      return "inertia";
    case Verification::start_block:
      return "start_block";
    case Verification::random_block:
      return "random_block";
    case Verification::normal:
      return "normal";
  }
  return "?";
}

void announce_dense(const EigenOptions& options, index_t wanted) {
  if (!options.progress) return;
  Progress p;
  p.phase = "dense", p.wanted = wanted;
  options.progress(p);
}

EigenPlan plan_eigen(index_t n, std::size_t element_bytes, const EigenOptions& options, index_t initial) {
  expects(n >= 0, "an operator has a negative number of rows");
  expects(options.nev >= 1, "--nev must be at least 1");
  expects(options.tol >= 0 && std::isfinite(options.tol), "--tol must be a number, 0 or larger");
  expects(options.block_size >= 0, "--block-size must be at least 1");
  expects(options.max_basis >= 0, "--max-basis must be at least 1");
  expects(options.max_iterations >= 0, "--max-iter must be at least 1");
  EigenPlan plan;
  plan.nev = std::min(options.nev, n);
  plan.block_size = options.block_size > 0 ? options.block_size : default_block;
  plan.block_size = std::clamp<index_t>(plan.block_size, 1, std::max<index_t>(1, n));
  const index_t start = std::max(plan.block_size, std::min(initial, n));
  plan.max_iterations = options.max_iterations > 0 ? options.max_iterations
                        : n <= takeover_rows       ? takeover_steps
                                                   : 20000;
  if (options.max_iterations == 0 && n <= takeover_rows) plan.max_applications = takeover_applications * n;
  const index_t wanted_basis = std::max(2 * plan.nev + 4 * start, plan.nev + 12 * start);
  plan.max_basis = options.max_basis > 0 ? options.max_basis : wanted_basis;
  const bool wide = 3 * (plan.max_basis + plan.block_size) > n;
  plan.method = options.method == Method::chebyshev ? Method::lanczos : options.method;
  if (plan.method == Method::automatic) {
    plan.method = Method::dense;
    if (n <= dense_rows)
      plan.why = "so small a matrix is solved soonest as a whole";
    else if (wide && n <= dense_rows_wide)
      plan.why = "a basis would hold a third of the space";
    else if (3 * plan.nev > n)
      plan.why = "more than a third of all eigenvalues are wanted";
    else
      plan.method = Method::lanczos, plan.why = "few of many eigenvalues are wanted";
  }
  const auto rows = static_cast<std::uint64_t>(n);
  if (plan.method == Method::lobpcg) {
    if (options.block_size == 0) plan.block_size = with_guards(plan.nev);
    plan.block_size = std::max(plan.block_size, plan.nev);
    plan.max_basis = 3 * plan.block_size;
    plan.bytes = rows * static_cast<std::uint64_t>(10 * plan.block_size) * element_bytes;
    if (5 * plan.block_size <= n) return plan;
    plan.method = Method::dense, plan.why = "blocks would hold more than half of the space";  // [X P W]
  }
  if (plan.method == Method::davidson) {
    const index_t kept = std::max(with_guards(plan.nev), start);
    const index_t least = 2 * kept + plan.block_size;
    plan.max_basis = options.max_basis > 0 ? options.max_basis : 2 * kept + 8 * plan.block_size;
    expects(
        plan.max_basis >= least,
        "--max-basis must be at least twice nev and its guards (a fifth of it, at least 2) and one block");
    plan.bytes = rows * static_cast<std::uint64_t>(2 * plan.max_basis + 6 * plan.block_size + 8 * kept) *
                 element_bytes;
    if (2 * plan.max_basis <= n) return plan;
    plan.method = Method::dense, plan.why = "a basis would hold more than half of the space";
  }
  if (plan.method == Method::dense) {
    plan.bytes = rows * rows * element_bytes * 4;
    return plan;
  }
  // Memory beyond n columns would never be used; a restart must leave room for block steps.
  plan.max_basis = std::min(plan.max_basis, n);
  const index_t least = std::min(n, plan.nev + 6 * plan.block_size);
  if (options.max_basis > 0 && plan.max_basis < least)
    throw Error(Errc::invalid_argument, "--max-basis must be at least " + std::to_string(least) +
                                            ": --nev plus six blocks of " + std::to_string(plan.block_size));
  plan.max_basis = std::max(plan.max_basis, least);
  const auto bytes = [&](index_t columns) {
    return rows * static_cast<std::uint64_t>(columns) * element_bytes;
  };
  plan.bytes = bytes(plan.max_basis + 6 * plan.block_size + 4 * plan.nev);
  if (options.precision == Precision::float64) return plan;
  plan.bytes = plan.bytes / 2 + bytes(3 * plan.nev);
  if (options.precision == Precision::float32) return plan;
  const index_t start_vectors = with_guards(plan.nev);
  plan.bytes = std::max(plan.bytes, bytes(std::max(plan.max_basis, 4 * start_vectors) + 7 * start_vectors));
  return plan;
}

template <class T>
EigenResult<T> solve_eigen(const Context& context, const EigenProblem<T>& problem,
                           const EigenOptions& options, HostView<const T> initial,
                           const Checkpointing<T>& checkpointing) {
  expects_one_rank(context, "solve_eigen");
  Context ctx = context;
  const index_t n = problem.a.rows();
  expects(initial.cols() == 0 || initial.rows() == n,
          "the block of initial vectors has another number of rows than the matrix");
  EigenPlan plan = plan_eigen(n, sizeof(T), options, initial.cols());
  if (n < threaded_rows) ctx.threads = 1;
  EigenResult<T> result;
  result.next_value = result.gap = std::numeric_limits<double>::quiet_NaN();
  if (n == 0) {
    result.vectors = Matrix<T>(0, 0);
    result.converged = result.verified = true;
    result.verification = Verification::all_computed, result.stop = StopReason::converged;
    result.reason = "the matrix has no rows, so no eigenvalues";
    return result;
  }
  expects((options.which != Which::SM && !problem.target) || problem.inverse || plan.method == Method::dense,
          "eigenvalues near a target are sought through a factorisation: the problem needs `inverse`");
  const bool preconditioned = is_preconditioned(options.method);
  expects(!preconditioned || options.which == Which::SA || options.which == Which::LA,
          "LOBPCG and Davidson seek the lowest or the highest eigenvalues: --which SA or LA");
  expects(!preconditioned || (!checkpointing.write && checkpointing.resume == nullptr),
          "LOBPCG and Davidson keep no checkpoints");
  const bool narrow = options.precision != Precision::float64;
  if (narrow) expect_narrow(problem, options, checkpointing);
  const bool sides = seeks_sides(options, problem.target);
  const index_t asked = plan.nev;
  if (sides && options.which != Which::BE && plan.method != Method::dense) {
    plan.nev = wanted_beside(problem, options, plan.nev);
    if (plan.nev == 0) {
      result.vectors = Matrix<T>(n, 0);
      result.converged = result.verified = true;
      result.verification = Verification::inertia, result.stop = StopReason::converged;
      result.reason = std::string("no eigenvalue lies ") + (options.which == Which::SA ? "below" : "above") +
                      " the target, as the inertia of an LDL^H factorisation shows";
      return result;
    }
  }
  auto options_of_run = options;
  options_of_run.nev = plan.nev;
  if (plan.method == Method::dense)
    solve_dense(ctx, problem, options, plan.nev, result);
  else if (is_preconditioned(plan.method))
    solve_iteratively(ctx, problem, options_of_run, Lobpcg<T>(ctx, problem, options_of_run, plan, initial),
                      result);
  else if (narrow && !factorises_cheaply(problem, options))
    solve_iteratively(ctx, problem, options_of_run,
                      NarrowLanczos<T>(ctx, problem, options_of_run, plan, initial), result);
  else
    solve_iteratively(ctx, problem, options_of_run,
                      Lanczos<T>(ctx, problem, options_of_run, plan, initial, checkpointing, result), result);
  if (sides && plan.method != Method::dense) keep_sides(problem, options, result);
  if (result.stop == StopReason::converged && !result.converged) result.stop = StopReason::rounding;
  result.verified = result.converged && result.verification != Verification::none;
  const bool only_float32 = options.precision == Precision::float32 && result.narrow_applications > 0;
  bool hidden = only_float32 && options.verify && result.converged && !result.verified;
  if (hidden && result.stop == StopReason::converged) result.stop = StopReason::not_verified;
  bool displaced = result.verified && plan.method != Method::dense &&
                   !(sides ? sides_hold(problem) : nearest_hold(result, problem, options));
  if (displaced) result.verified = false, result.stop = StopReason::not_verified;
  const bool may_take_over = options.verify && options.max_iterations == 0 && n <= takeover_rows;
  if (may_take_over && plan.method != Method::dense && !result.verified &&
      result.stop != StopReason::interrupted) {
    solve_dense(ctx, problem, options, asked, result);
    result.taken_over = true, result.verified = result.converged, displaced = hidden = false;
    if (!result.converged) result.stop = StopReason::rounding;
  }
  if (result.verified) sharpen_error_bounds<T>(result, distance_outside(result, options, problem.target));
  // Without its floor the bound is what was asked for.
  Acceptance floorless;
  floorless.tol = options.tol, floorless.convergence = options.convergence;
  const bool scaled = options.convergence == Convergence::norm || options.convergence == Convergence::root;
  floorless.norm = scaled ? result.norm : 0;
  bool at_rounding = false;
  for (index_t j = 0; j < static_cast<index_t>(result.values.size()); ++j)
    at_rounding = at_rounding || (result.converged_pairs[at(j)] &&
                                  result.residual_norms[at(j)] > floorless.bound(result.values[at(j)]));
  const index_t wanted = sides ? static_cast<index_t>(result.values.size()) : asked;
  result.reason = describe(options, result.stop, result.verified, result.verification, options.nev, n,
                           result.converged_count, wanted, at_rounding);
  if (sides) result.reason += side_sentence(result, options.which, asked);
  const bool ends_open = !sides || static_cast<index_t>(result.values.size()) == asked;
  result.cut_off = ends_open && options.nev < n ? copies_cut_off(result) : 0;
  if (result.cut_off > 0)
    result.reason += "; of the last eigenvalue there are at least " + std::to_string(result.cut_off) +
                     (result.cut_off == 1 ? " copy" : " copies") + ", cut off by --nev";
  if (result.taken_over) result.reason += "; the iteration did not succeed, and the dense solver took over";
  if (displaced)
    result.reason = std::to_string(result.converged_count) +
                    " pairs converged, but the shift that had to be moved is too far from --sigma to tell "
                    "whether they are the nearest to it: choose another --sigma";
  if (hidden)
    result.reason = std::to_string(result.converged_count) +
                    " pairs converged, but the first eigenvalue outside of the set is too near to it for "
                    "float32 to tell that none is missing: take --precision mixed, or another --nev";
  else if (only_float32 && result.stop == StopReason::rounding)
    result.reason =
        std::to_string(result.converged_count) + " of " + std::to_string(asked) +
        " pairs reach the tolerance; the residuals of the others do not get smaller in float32: ask "
        "for a larger --tol, or take --precision mixed";
  else if (result.narrow_applications > 0)
    result.reason += only_float32 ? "; iterated in float32, residuals computed in float64"
                                  : "; found in float32, refined in float64";
  return result;
}

#define TS_INSTANTIATE(T)                                                                             \
  template EigenResult<T> solve_eigen<T>(const Context&, const EigenProblem<T>&, const EigenOptions&, \
                                         HostView<const T>, const Checkpointing<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
