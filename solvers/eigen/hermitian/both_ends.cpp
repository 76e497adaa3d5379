#include "tallskinny/solvers/eigen/hermitian/both_ends.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
struct End {
  EigenResult<T> found;
  bool open = false;  ///< more of it may come before others that were found
};

struct Member {
  double value;
  std::size_t end;
  index_t column;
};

/// All that was found at the ends, by falling magnitude.
template <class T>
std::vector<Member> by_magnitude(const std::vector<End<T>>& ends) {
  std::vector<Member> all;
  for (std::size_t e = 0; e < ends.size(); ++e) {
    const auto& values = ends[e].found.values;
    for (std::size_t j = 0; j < values.size(); ++j) all.push_back({values[j], e, static_cast<index_t>(j)});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Member& a, const Member& b) { return std::abs(a.value) > std::abs(b.value); });
  return all;
}

/// BE: the next value of the end where it is nearer to the set. NaN where an end does not know.
template <class T>
double nearest_next(const std::vector<End<T>>& ends) {
  const End<T>* nearest = &ends.front();
  for (const auto& end : ends)
    if (!(end.found.gap >= nearest->found.gap)) nearest = &end;
  return nearest->found.next_value;
}

/// LM: the first value outside of the k wanted, found, or what an end says comes next. NaN where one does not know.
template <class T>
double next_of(const std::vector<End<T>>& ends, const std::vector<Member>& all, std::size_t k) {
  double next = k < all.size() ? all[k].value : nan;
  for (const auto& [found, open] : ends) {
    if (std::isnan(found.next_value) && open) return nan;
    if (!(std::abs(found.next_value) <= std::abs(next)) && !std::isnan(found.next_value)) next = found.next_value;
  }
  return next;
}

/// How many eigenvalues at this end are larger than the first that the other one leaves out, at most; all of them where
/// that cannot be told.
template <class T>
index_t count_larger(const EigenProblem<T>& problem, bool low, const EigenResult<T>& other, index_t n) {
  const double next = std::abs(other.next_value), clearance = 1e-10 * other.norm, at = next - 2 * clearance;
  if (!other.verified || !(at > 0) || !problem.count_below) return n;
  const auto below = problem.count_below(low ? -at : at, clearance);
  return !below ? n : low ? *below : n - *below;
}

/// What is known of both: the weaker.
template <class T>
void join_verdicts(const std::vector<End<T>>& ends, EigenResult<T>& result) {
  result.verification = Verification::all_computed, result.stop = StopReason::converged;
  for (const auto& end : ends) {
    const EigenResult<T>& found = end.found;
    // An end of which no more can be among the wanted is not cut.
    if (end.open && !found.end_known) result.end_known = false;
    if (!found.verified || result.verification == Verification::none)
      result.verification = Verification::none;
    else
      result.verification = std::max(result.verification, found.verification);
    if (result.stop != StopReason::interrupted && found.stop != StopReason::converged) result.stop = found.stop;
  }
}

}  // namespace

template <class T>
void solve_both_ends(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options, Ends beyond,
                     HostView<const T> initial, EigenResult<T>& result) {
  const index_t here = problem.a.rows();
  auto one = options;
  one.vectors = true, one.results = Results::on_host;
  std::vector<End<T>> ends;
  const auto facts = problem.a.facts();
  const bool high_first = options.which == Which::LM && std::abs(facts.high) > std::abs(facts.low);
  for (const bool low : {!high_first, high_first}) {
    index_t count = low ? beyond.low : beyond.high;
    if (options.which == Which::LM && !ends.empty())
      count = std::min(count, count_larger(problem, low, ends.front().found, all_rows(ctx, here)));
    if (count == 0) continue;
    one.which = low ? Which::SA : Which::LA, one.nev = std::min(options.nev, count);
    if (options.max_iterations > 0)
      one.max_iterations = std::max<index_t>(1, options.max_iterations - result.iterations);
    ends.push_back({solve_eigen<T>(ctx, problem, one, initial), count > one.nev});
    const EigenResult<T>& found = ends.back().found;
    add_costs(found, result);
    result.norm = std::max(result.norm, found.norm);
    result.filter_degree = std::max(result.filter_degree, found.filter_degree);
    (result.shift ? result.high_shift : result.shift) = found.shift;
    if (found.stop == StopReason::interrupted) break;
  }
  if (result.high_shift && *result.high_shift < *result.shift) std::swap(result.shift, result.high_shift);
  const auto all = by_magnitude(ends);
  const auto k = static_cast<std::size_t>(std::min(options.nev, static_cast<index_t>(all.size())));
  Matrix<T> x(here, static_cast<index_t>(k));
  for (index_t j = 0; j < x.cols(); ++j)
    for (index_t i = 0; i < here; ++i) x(i, j) = ends[all[at(j)].end].found.vectors(i, all[at(j)].column);
  const double next = options.which == Which::BE ? nearest_next(ends) : next_of(ends, all, k);
  finish<T>(ctx, problem, options, acceptance_of(options, result.norm, all_rows(ctx, here)), std::move(x), next,
            result);
  join_verdicts(ends, result);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_both_ends)

}  // namespace ts::inline v0::solvers
