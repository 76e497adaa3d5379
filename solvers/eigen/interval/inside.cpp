#include "tallskinny/solvers/eigen/interval/inside.hpp"

#include <algorithm>
#include <string>

#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Is a value in? Those of a multiplet, which the slack does not tell apart, are in or out as a whole:
/// `rising` are all values found, `i` is one of them.
template <class T>
bool is_in(const EigenResult<T>& result, const Interval& interval, double slack, const std::vector<index_t>& rising,
           std::size_t i) {
  const auto value = [&](std::size_t j) { return result.values[at(rising[j])]; };
  const auto within = [&](std::size_t j) {
    const double beyond = std::max(interval.low - value(j), value(j) - interval.high);
    return beyond <= result.error_bounds[at(rising[j])] + slack;
  };
  for (std::size_t j = i;; --j) {
    if (within(j)) return true;
    if (j == 0 || value(j) - value(j - 1) > slack) break;
  }
  for (std::size_t j = i + 1; j < rising.size() && value(j) - value(j - 1) <= slack; ++j)
    if (within(j)) return true;
  return false;
}

template <class T>
std::string sentence(const EigenResult<T>& r, index_t at_ends) {
  const auto k = static_cast<index_t>(r.values.size());
  std::string s = std::to_string(k) + (k == 1 ? " eigenvalue" : " eigenvalues") + " found in the interval";
  if (r.converged_count < k)
    s += ", " + std::to_string(r.converged_count) + " of them converged: ask for a larger `tol`";
  if (r.stop == StopReason::interrupted) s += "; stopped on request";
  if (r.verified && r.verification == Verification::all_computed)
    s += "; complete, for the whole spectrum was computed";
  else if (r.verified && r.verification == Verification::inertia)
    s += "; complete: LDL^H factorisations count as many";
  else if (r.verified)
    s += "; complete as far as a search from random blocks can tell, which is no proof: nothing was factorised";
  else
    s += "; not shown to be complete: raise `max_iterations` or lower `tol`";
  if (at_ends > 0)
    s += "; " + std::to_string(at_ends) +
         " of them cannot be told from an end of the interval by the error bounds, and are counted in";
  return s;
}

}  // namespace

template <class T>
void keep_inside(const Interval& interval, double slack, EigenResult<T>& r) {
  const auto rising = rising_order(r.values);
  std::vector<index_t> kept;
  index_t at_ends = 0;
  r.next_value = r.gap = nan;
  for (std::size_t i = 0; i < rising.size(); ++i) {
    const index_t j = rising[i];
    const double v = r.values[at(j)], beyond = std::max(interval.low - v, v - interval.high);
    if (is_in(r, interval, slack, rising, i)) {
      kept.push_back(j);
      at_ends += beyond >= -r.error_bounds[at(j)] - slack ? 1 : 0;
    } else if (!(beyond >= r.gap)) {
      r.next_value = v, r.gap = beyond;
    }
  }
  std::sort(kept.begin(), kept.end());
  keep_pairs(r, kept);
  const bool all = r.converged_count == static_cast<index_t>(kept.size());
  r.converged = all && r.stop != StopReason::interrupted && r.stop != StopReason::max_iterations;
  r.verified = r.converged && r.verification != Verification::none;
  if (r.converged && r.verified) r.stop = StopReason::converged;
  r.reason = sentence(r, at_ends);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, keep_inside)

}  // namespace ts::inline v0::solvers
