#include "tallskinny/solvers/eigen/hermitian/sides.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"

namespace ts::inline v0::solvers {

bool seeks_sides(const EigenOptions& options, std::optional<double> target) {
  return target && (options.which == Which::LA || options.which == Which::SA || options.which == Which::BE);
}

bool seeks_nearest(const EigenOptions& options, std::optional<double> target) {
  return options.which == Which::SM || (target && options.which == Which::LM);
}

Ends sides_of(Which which, index_t k) {
  if (which == Which::LA) return {0, k};
  return which == Which::SA ? Ends{k, 0} : Ends{k / 2, k - k / 2};
}

std::vector<index_t> nearest_on_sides(const std::vector<double>& rising, double target, Ends wanted, double slack) {
  const auto first_at = [&](double x) { return std::lower_bound(rising.begin(), rising.end(), x) - rising.begin(); };
  const index_t n = static_cast<index_t>(rising.size());
  index_t above = first_at(target - slack), below = std::max(above, index_t{first_at(target + slack)});
  if (wanted.high > 0) below = above;  // LA and BE: what lies at the target counts as above
  const index_t low = std::min(wanted.low, below), high = std::min(wanted.high, n - above);
  std::vector<index_t> chosen(at(low + high));
  std::iota(chosen.begin(), chosen.begin() + low, below - low);
  std::iota(chosen.begin() + low, chosen.end(), above);
  return chosen;
}

template <class T>
std::optional<Ends> count_sides(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                                index_t n) {
  if (!problem.count_below) return std::nullopt;
  const auto facts = problem.a.facts();
  index_t products = 0;
  const double norm = std::isfinite(facts.high - facts.low) ? std::max(std::abs(facts.low), std::abs(facts.high))
                                                            : estimate_norm(ctx, problem.a, options.seed, products);
  const double moved = 2 * std::abs(problem.shift - *problem.target);
  for (const double width : {acceptance_of(options, norm, n).rounding(), 1e-9 * norm}) {
    const double away = std::max(width, moved);
    const auto low = problem.count_below(*problem.target + away, away / 2);
    const auto not_high = low ? problem.count_below(*problem.target - away, away / 2) : std::nullopt;
    if (not_high) return Ends{*low, n - *not_high};
  }
  return std::nullopt;
}

std::optional<double> centre_of(const EigenOptions& options, std::optional<double> target) {
  if (seeks_nearest(options, target)) return target.value_or(0);
  return options.which == Which::LM ? std::optional<double>(0) : std::nullopt;
}

template <class T>
void count_copies(const EigenProblem<T>& problem, std::optional<double> centre, EigenResult<T>& r) {
  if (!problem.count_below || r.values.empty() || (r.end_known && r.cut_off == 0)) return;
  const double last = r.values.back(), margin = std::max(1e-10 * r.norm, r.error_bounds.back());
  std::vector<double> nearest(r.values);  // the copies that were found
  std::sort(nearest.begin(), nearest.end(),
            [last](double a, double b) { return std::abs(a - last) < std::abs(b - last); });
  nearest.resize(at(r.multiplicities.back()));
  const auto [low, high] = std::minmax_element(nearest.begin(), nearest.end());
  const auto count = [&](double from, double to) {
    const auto below = problem.count_below(from - 2 * margin, margin);
    const auto up_to = below ? problem.count_below(to + 2 * margin, margin) : std::nullopt;
    return up_to ? std::optional(*up_to - *below) : std::nullopt;
  };
  index_t told = r.multiplicities.back();
  auto counted = count(*low, *high);
  const double across = centre ? 2 * *centre - last : last;
  const auto is_across = [&](double value) { return std::abs(value - across) <= margin; };
  if (std::abs(across - last) > 4 * margin && counted) {
    const index_t others = std::count_if(r.values.begin(), r.values.end(), is_across);
    if (others > 0 || is_across(r.next_value)) {
      const auto more = count(across, across);
      counted = more ? std::optional(*counted + *more) : std::nullopt, told += others;
    }
  }
  if (!counted || *counted < told) return;
  r.copies_counted = *counted;
  r.cut_off = r.copies_counted > told ? told : 0;
  if (r.cut_off > 0) r.next_value = r.values.back(), r.gap = 0;
}

template <class T>
void keep_sides(const EigenProblem<T>& problem, const EigenOptions& options, index_t n, EigenResult<T>& result) {
  const auto order = rising_order(result.values);
  std::vector<double> rising;
  rising.reserve(order.size());
  for (const index_t j : order) rising.push_back(result.values[at(j)]);
  const auto accept = acceptance_of(options, result.norm, n);
  std::vector<index_t> kept;
  for (const index_t i :
       nearest_on_sides(rising, *problem.target, sides_of(options.which, options.nev), accept.rounding()))
    kept.push_back(order[at(i)]);
  if (kept.size() == order.size()) return;
  std::sort(kept.begin(), kept.end());
  keep_pairs(result, kept);
  result.converged = result.converged_count == static_cast<index_t>(kept.size());
}

template <class T>
bool fills_a_side(const EigenResult<T>& result, const EigenOptions& options, double target) {
  const Ends wanted = sides_of(options.which, options.nev);
  const double slack = 1e-9 * std::max(result.norm, std::abs(target));  // what lies at the target counts for both
  const auto count = [&](const auto& is_there) {
    return std::count_if(result.values.begin(), result.values.end(), is_there);
  };
  return (wanted.low > 0 && count([&](double v) { return v <= target + slack; }) >= wanted.low) ||
         (wanted.high > 0 && count([&](double v) { return v >= target - slack; }) >= wanted.high);
}

template <class T>
bool reaches_target(const EigenResult<T>& result, double target) {
  for (std::size_t j = 0; j < result.values.size(); ++j)
    if (std::abs(result.values[j] - target) <= result.error_bounds[j]) return true;
  return false;
}

template <class T>
bool sides_hold(const EigenProblem<T>& problem) {
  const double target = *problem.target, moved = std::abs(problem.shift - target);
  if (moved == 0) return true;
  if (!problem.count_below) return false;
  const auto low = problem.count_below(std::min(target, problem.shift) - moved, moved / 2);
  return low && low == problem.count_below(std::max(target, problem.shift) + moved, moved / 2);
}

template <class T>
bool nearest_hold(const EigenResult<T>& result, const EigenProblem<T>& problem, const EigenOptions& options,
                  index_t n) {
  const double target = problem.target.value_or(0), moved = std::abs(problem.shift - target);
  const bool near = seeks_nearest(options, problem.target);
  const bool all = static_cast<index_t>(result.values.size()) == n;
  if (!problem.inverse || !near || moved == 0 || all) return true;
  const auto accept = acceptance_of(options, result.norm, n);
  double farthest = 0, bound = accept.rounding();
  for (const double v : result.values)
    farthest = std::max(farthest, std::abs(v - target)), bound = std::max(bound, accept.bound(v));
  if (2 * moved <= bound || farthest <= std::abs(result.next_value - problem.shift) - moved + bound) return true;
  // Where copies of the last value are left out, only a count tells that nothing else is nearer than they
  // are.
  const double radius = farthest - bound;
  if (radius <= 0) return true;
  if (!problem.count_below) return false;
  const auto low = problem.count_below(target - radius, bound / 2),
             high = problem.count_below(target + radius, bound / 2);
  return low && high && *high - *low == std::count_if(result.values.begin(), result.values.end(), [&](double v) {
           return std::abs(v - target) < radius;
         });
}

template <class T>
std::function<double(double)> distance_outside(const EigenResult<T>& result, const EigenOptions& options,
                                               std::optional<double> target, index_t n) {
  const double sigma = target.value_or(0);
  const bool near = seeks_nearest(options, target), sides = seeks_sides(options, target);
  const index_t k = static_cast<index_t>(result.values.size());
  if (k == 0 || k == n) return [](double) { return inf; };
  // How far within the set a value is, and where the set ends.
  const auto depth = [=, which = options.which](double x) {
    if (near) return -std::abs(x - sigma);
    if (which == Which::LM) return std::abs(x);
    return which == Which::LA ? x : -x;
  };
  double last = inf, low = inf, high = -inf;
  for (const double v : result.values)
    last = std::min(last, depth(v)), low = std::min(low, v), high = std::max(high, v);
  if (!std::isnan(result.next_value)) last = depth(result.next_value);
  if (options.which != Which::BE && !sides) return [=](double theta) { return 0.5 * (depth(theta) - last); };
  if (sides) {
    if (options.which == Which::LA) low = sigma;
    if (options.which == Which::SA) high = sigma;
    return [=](double theta) { return 0.5 * std::min(theta - low, high - theta); };
  }
  // Of BE the gap is that of the end where it is less.
  const double gap = std::isnan(result.gap) ? 0 : result.gap;
  const double below = k > 1 ? result.values[at(k / 2 - 1)] : -inf, above = result.values[at(k / 2)];
  return [=](double theta) { return 0.5 * (gap + (theta <= below ? below - theta : theta - above)); };
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, distance_outside)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, count_sides)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, count_copies)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, keep_sides)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, fills_a_side)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, reaches_target)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, sides_hold)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, nearest_hold)

}  // namespace ts::inline v0::solvers
