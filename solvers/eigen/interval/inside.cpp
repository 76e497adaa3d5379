#include "tallskinny/solvers/eigen/interval/inside.hpp"

#include <algorithm>
#include <string>

#include "tallskinny/solvers/eigen/result/finish.hpp"

namespace ts::inline v0::solvers {

namespace {

double distance_beyond(const Interval& interval, double value) {
  return std::max(interval.low - value, value - interval.high);
}

template <class T>
std::string sentence(const EigenResult<T>& r, index_t at_ends, bool counted) {
  const auto k = static_cast<index_t>(r.values.size());
  std::string s = std::to_string(k) + (k == 1 ? " eigenvalue" : " eigenvalues") + " found in the interval";
  if (r.converged_count < k)
    s += ", " + std::to_string(r.converged_count) + " of them converged: ask for a larger `tol`";
  if (r.stop == StopReason::interrupted) s += "; stopped on request";
  if (r.verified && r.verification == Verification::all_computed)
    s += std::string("; complete, for the whole spectrum was computed") +
         (counted ? ", and LDL^H factorisations count as many" : "");
  else if (r.verified && r.verification == Verification::inertia)
    s += "; complete: LDL^H factorisations count as many";
  else if (r.verified)
    s += "; complete as far as a search from random blocks can tell, which is no proof: nothing was factorised";
  else if (r.stop == StopReason::rounding && r.converged_count == k)
    s += "; not shown to be complete: rounding of a matrix of this norm reaches across an end of the interval, and "
         "LDL^H factorisations give no count there; move the ends away from eigenvalues";
  else
    s += "; not shown to be complete: raise `max_iterations` or lower `tol`";
  if (at_ends > 0)
    s += "; " + std::to_string(at_ends) +
         " of them cannot be told from an end of the interval by the error bounds, and are counted in";
  return s;
}

}  // namespace

template <class T>
bool reaches_into(const EigenResult<T>& r, const Interval& interval, index_t j) {
  return distance_beyond(interval, r.values[at(j)]) <= r.error_bounds[at(j)];
}

template <class T>
void keep_inside(const Interval& interval, bool counted, EigenResult<T>& r) {
  std::vector<index_t> kept;
  index_t at_ends = 0;
  r.next_value = r.gap = nan;
  for (index_t j = 0; j < static_cast<index_t>(r.values.size()); ++j) {
    const double v = r.values[at(j)], beyond = distance_beyond(interval, v);
    if (reaches_into(r, interval, j)) {
      kept.push_back(j);
      at_ends += beyond >= -r.error_bounds[at(j)] ? 1 : 0;
    } else if (!(beyond >= r.gap)) {
      r.next_value = v, r.gap = beyond;
    }
  }
  keep_pairs(r, kept);
  const bool all = r.converged_count == static_cast<index_t>(kept.size());
  r.converged = all && r.stop != StopReason::interrupted && r.stop != StopReason::max_iterations;
  r.verified = r.converged && r.verification != Verification::none;
  if (r.converged && r.verified) r.stop = StopReason::converged;
  r.reason = sentence(r, at_ends, counted);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, reaches_into)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, keep_inside)

}  // namespace ts::inline v0::solvers
