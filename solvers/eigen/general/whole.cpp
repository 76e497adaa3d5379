#include "tallskinny/solvers/eigen/general/whole.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/solvers/eigen/dense/dense_solver.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur_detail.hpp"
#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Values that are never separated.
struct ValueUnit {
  double key;  ///< rises from the first wanted to the last
  index_t first, size;
};

template <class T>
std::vector<ValueUnit> sorted_units(const WholeSpectrum& all, const GeneralProblem<T>& problem, GeneralWhich part) {
  std::vector<ValueUnit> units;
  index_t first = 0;
  for (const index_t size : all.units) {
    const Complex z = all.values[at(first)];
    units.push_back({problem.target ? std::abs(z - Complex(*problem.target)) : key_of(part, z), first, size});
    first += size;
  }
  std::stable_sort(units.begin(), units.end(), [](const ValueUnit& a, const ValueUnit& b) { return a.key < b.key; });
  return units;
}

/// An order of rows and columns that leaves eigenvalues alone on the diagonal, the first `first` and those from `last`
/// on, with nothing below it: as xGEBAL permutes. Empty where there are none.
struct IsolatedValues {
  std::vector<index_t> order;
  index_t first = 0, last = 0;

  [[nodiscard]] bool has(index_t i) const { return !order.empty() && (i < first || i >= last); }
};

template <class T>
IsolatedValues isolated_values(const Matrix<T>& a) {
  const index_t n = a.rows();
  std::vector<index_t> in_row(at(n)), in_column(at(n)), front, back;
  std::vector<bool> taken(at(n));
  const auto linked = [&a](index_t i, index_t j) { return i != j && a(i, j) != T{}; };
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j)
      if (linked(i, j)) ++in_row[at(i)], ++in_column[at(j)];
  const auto take = [&](std::vector<index_t>& list, index_t i) {
    taken[at(i)] = true, list.push_back(i);
    for (index_t k = 0; k < n; ++k) {
      if (linked(k, i)) --in_row[at(k)];
      if (linked(i, k)) --in_column[at(k)];
    }
  };
  for (bool found = true; std::exchange(found, false);)
    for (index_t i = n - 1; i >= 0; --i) {
      if (taken[at(i)] || (in_row[at(i)] > 0 && in_column[at(i)] > 0)) continue;
      take(in_row[at(i)] == 0 ? back : front, i);
      found = true;
    }
  IsolatedValues out;
  out.first = static_cast<index_t>(front.size()), out.last = n - static_cast<index_t>(back.size());
  if (front.empty() && back.empty()) return out;
  out.order = std::move(front);
  for (index_t i = 0; i < n; ++i)
    if (!taken[at(i)]) out.order.push_back(i);
  out.order.insert(out.order.end(), back.rbegin(), back.rend());
  return out;
}

}  // namespace

template <class T>
void solve_whole(const Context& ctx, const GeneralProblem<T>& problem, const GeneralOptions& options,
                 GeneralResult& out) {
  const index_t n = problem.a.rows(), nev = std::min(options.common.nev, n);
  announce_dense(options.common, nev);
  const auto dense = as_dense(ctx, problem.a);
  out.operator_applications += n;
  if (!ortho::all_finite(dense.cview()))
    throw Error(Errc::bad_input, "the operator gave NaN or Inf for a finite block");
  const IsolatedValues isolated = isolated_values(dense);
  const std::vector<index_t>& order = isolated.order;
  auto ordered = Matrix<T>::copy_of(dense.cview());
  for (index_t i = 0; i < n && !order.empty(); ++i)
    for (index_t j = 0; j < n; ++j) ordered(i, j) = dense(order[at(i)], order[at(j)]);
  const auto choose = [&](const WholeSpectrum& all) {
    std::vector<index_t> chosen;
    out.next_value = Complex(nan, 0);
    for (const ValueUnit& unit : sorted_units(all, problem, options.part)) {
      if (static_cast<index_t>(chosen.size()) >= nev) {
        out.next_value = all.values[at(unit.first)];
        break;
      }
      for (index_t i = 0; i < unit.size; ++i) chosen.push_back(unit.first + i);
    }
    return chosen;
  };
  const auto solver = dense_solver<T>(ctx.stream, order.empty() ? problem.a.space() : Space::host, DenseTask::general);
  auto decomposed = solver->general(ctx, ordered.cview(), choose);
  const auto& [all, chosen, pairs] = decomposed.parts;
  out.decomposed_by = decomposed.by;
  out.values.clear(), out.converged_pairs.clear(), out.converged_count = 0;
  for (const index_t i : chosen) out.values.push_back(all.values[at(i)]);
  out.vectors = Matrix<Complex>(n, pairs.vectors.cols());
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < pairs.vectors.cols(); ++j)
      out.vectors(order.empty() ? i : order[at(i)], j) = pairs.vectors(i, j);
  out.conditions = pairs.conditions;
  out.residual_norms = general_residuals<T>(ctx, problem.a, out.vectors.cview(), out.values);
  out.operator_applications += is_complex<T> ? out.vectors.cols() : 2 * out.vectors.cols();

  auto accept = acceptance_of(options.common, 0, n);
  for (const double length : lengths(dense)) accept.norm = std::max(accept.norm, length);
  for (const Complex z : all.values) accept.norm = std::max(accept.norm, std::abs(z));
  for (std::size_t j = 0; j < out.values.size(); ++j) {
    out.converged_pairs.push_back(out.residual_norms[j] <= accept.bound(std::abs(out.values[j])));
    out.converged_count += out.converged_pairs.back() ? 1 : 0;
  }
  out.norm = accept.norm;
  out.verification = Verification::all_computed, out.stop = StopReason::converged;
  GeneralVerdict verdict;
  verdict.whole = true;
  // The Schur form begins and ends with those that stand alone: they are elements of the matrix, not rounded.
  verdict.amplification = 1;
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    const double condition = isolated.has(chosen[j]) ? 1 : out.conditions[j];
    verdict.amplification = std::isnan(condition) ? inf : std::max(*verdict.amplification, condition);
  }
  conclude(out, verdict, nev);
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_whole)

}  // namespace ts::inline v0::solvers
