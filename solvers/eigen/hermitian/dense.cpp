#include "tallskinny/solvers/eigen/hermitian/dense.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/solvers/eigen/dense/dense_solver.hpp"
#include "tallskinny/solvers/eigen/hermitian/sides.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Indices of the wanted among all eigenvalues, ascending by value.
std::vector<index_t> choose_from_all(const std::vector<double>& values, const EigenOptions& options,
                                     std::optional<double> target, index_t k, double& next_value) {
  const auto n = static_cast<index_t>(values.size());
  if (seeks_sides(options, target)) {
    const double norm = std::max(std::abs(values.front()), std::abs(values.back()));
    const Ends sides = sides_of(options.which, k);
    auto chosen = nearest_on_sides(values, *target, sides, static_cast<double>(n) * unit_roundoff * norm);
    double apart = inf;
    const auto follows = [&](bool open, index_t last, index_t next) {
      if (!open || next < 0 || next >= n || !(std::abs(values[at(next)] - values[at(last)]) < apart)) return;
      apart = std::abs(values[at(next)] - values[at(last)]), next_value = values[at(next)];
    };
    if (!chosen.empty()) follows(sides.low > 0, chosen.front(), chosen.front() - 1);
    if (!chosen.empty()) follows(sides.high > 0, chosen.back(), chosen.back() + 1);
    return chosen;
  }
  std::vector<index_t> order(values.size());
  std::iota(order.begin(), order.end(), index_t{0});
  if (options.which != Which::SM && !target) {
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
    return d == 0 ? inf : 1 / d;
  };
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return std::abs(nu(a)) > std::abs(nu(b)); });
  if (k < n) next_value = values[at(order[at(k)])];
  order.resize(at(k));
  return order;
}

/// The chosen in the order of what was asked.
std::vector<index_t> in_order(const std::vector<index_t>& chosen, const std::vector<double>& values,
                              const EigenOptions& options, std::optional<double> target) {
  std::vector<double> of_chosen;
  of_chosen.reserve(chosen.size());
  for (const index_t i : chosen) of_chosen.push_back(values[at(i)]);
  auto order = order_of(of_chosen, options.which, target);
  for (index_t& i : order) i = chosen[at(i)];
  return order;
}

}  // namespace

template <class T>
void solve_dense(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options, index_t k,
                 EigenResult<T>& result) {
  const index_t n = problem.a.rows();
  announce_dense(options, k);
  auto dense = as_dense(ctx, problem.a);
  result.operator_applications += n;
  if (!ortho::all_finite(dense.cview())) throw Error(Errc::bad_input, "the matrix has values that are NaN or infinite");
  double next_value = nan;
  const auto choose = [&](const std::vector<double>& values) {
    return in_order(choose_from_all(values, options, problem.target, k, next_value), values, options, problem.target);
  };
  const auto solver = dense_solver<T>(ctx.stream, problem.a.space(), DenseTask::hermitian);
  auto [pairs, by] = solver->hermitian(ctx, dense.cview(), k, choose);
  result.decomposed_by = std::move(by);
  const double norm = std::max(std::abs(pairs.values.front()), std::abs(pairs.values.back()));
  auto accept = acceptance_of(options, norm, n);
  // A decomposition is that of a matrix within this of A: LAPACK Users' Guide, section 4.7.
  accept.least = std::max(accept.least, static_cast<double>(n) * unit_roundoff);
  auto found = options;
  found.nev = pairs.vectors.cols();
  // Rayleigh and Ritz make few pairs a little better; with many, that takes longer than all before.
  constexpr index_t small = 128, share = 32;
  if (n <= small || found.nev * share <= n) {
    finish<T>(ctx, problem, found, accept, std::move(pairs.vectors), next_value, result);
  } else {
    result.values.clear();
    for (const index_t i : pairs.chosen) result.values.push_back(pairs.values[at(i)]);
    finish_pairs<T>(ctx, problem, found, accept, std::move(pairs.vectors), next_value, result);
  }
  result.verification = Verification::all_computed, result.end_known = true;
  result.stop = StopReason::converged;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_dense)

}  // namespace ts::inline v0::solvers
