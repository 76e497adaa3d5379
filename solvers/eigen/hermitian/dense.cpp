#include "tallskinny/solvers/eigen/hermitian/dense.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/solvers/eigen/hermitian/sides.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::solvers {

namespace {

/// Indices of the wanted among all eigenvalues, ascending by value.
std::vector<index_t> choose_from_all(const std::vector<double>& values, const EigenOptions& options,
                                     std::optional<double> target, index_t k, double& next_value) {
  const auto n = static_cast<index_t>(values.size());
  if (seeks_sides(options, target)) {
    const double norm = std::max(std::abs(values.front()), std::abs(values.back()));
    return nearest_on_sides(values, *target, sides_of(options.which, k), static_cast<double>(n) * unit_roundoff * norm);
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

}  // namespace

template <class T>
void solve_dense(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options, index_t k,
                 EigenResult<T>& result) {
  const index_t n = problem.a.rows();
  announce_dense(options, k);
  auto dense = as_dense(ctx, problem.a);
  result.operator_applications += n;
  if (!ortho::all_finite(dense.cview())) throw Error(Errc::bad_input, "the matrix has values that are NaN or infinite");
  // Scaled by a power of two, so that squares neither overflow nor underflow.
  double largest = 0;
  for (index_t i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(dense.data()[i]));
  const double scale = largest > 0 ? std::exp2(std::floor(std::log2(largest))) : 1;
  for (index_t i = 0; i < n * n; ++i) dense.data()[i] /= scale;
  auto e = ortho::hermitian_eigen<T>(dense.cview());
  for (double& v : e.values) v *= scale;

  double next_value = nan;
  const auto chosen = choose_from_all(e.values, options, problem.target, k, next_value);
  auto x = columns_of(e.vectors, chosen);
  const auto accept = acceptance_of(options, std::max(std::abs(e.values.front()), std::abs(e.values.back())), n);
  auto found = options;
  found.nev = x.cols();
  finish<T>(ctx, problem, found, accept, std::move(x), next_value, result);
  result.verification = Verification::all_computed;
  result.stop = StopReason::converged;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_dense)

}  // namespace ts::solvers
