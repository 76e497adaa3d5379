#include "tallskinny/solvers/direct/direct_solver.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/solvers/direct/bodies.hpp"
#include "tallskinny/solvers/random_block.hpp"

namespace ts::solvers {

template <class T>
std::unique_ptr<DirectSolver<T>> analyse(CsrView<T> a, FactorKind kind, DirectBody body, const std::vector<int>& order,
                                         const cuda::Stream& gpu) {
  expects(a.rows == a.cols, "a factorisation needs a square matrix");
  const auto may_be = [body](DirectBody one) { return body == DirectBody::best || body == one; };
  std::unique_ptr<DirectSolver<T>> solver;
  if (may_be(DirectBody::cudss)) solver = analyse_by_cudss<T>(a, kind, gpu);
  if (!solver && may_be(DirectBody::mumps)) solver = analyse_by_mumps<T>(a, kind, order);
  if (!solver && may_be(DirectBody::eigen)) solver = analyse_by_eigen<T>(a, kind);
  expects(solver != nullptr, body == DirectBody::cudss ? "cuDSS was not found" : "MUMPS was not found");
  return solver;
}

template <class T>
double backward_error(CsrView<T> a, const DirectSolver<T>& solver) {
  if (a.rows == 0) return 0;
  Context ctx;
  ctx.threads = 1;
  Matrix<T> b(a.rows, 1), x(a.rows, 1);
  fill_random<T>(ctx, 0x5eed, 1, b.view());
  solver.solve(ctx, b.cview(), x.view());
  const auto length = [&ctx](const Matrix<T>& column) {
    double norm = 0;
    column_norms(ctx, column.cview(), std::span<double>(&norm, 1));
    return norm;
  };
  const double of_b = length(b), of_x = length(x);
  std::vector<double> row_sums(at(a.rows));
  for_each_entry(
      a, [&](index_t i, index_t j, const T& entry) { b(i, 0) -= entry * x(j, 0), row_sums[at(i)] += std::abs(entry); });
  const double error = length(b) / (*std::max_element(row_sums.begin(), row_sums.end()) * of_x + of_b);
  return std::isfinite(error) ? error : inf;
}

template <class T>
double factorise_well(std::unique_ptr<DirectSolver<T>>& solver, CsrView<T> a, FactorKind kind) {
  constexpr double near_rounding = 1e-13;
  constexpr index_t most_rows = 50000;
  const auto error_of = [a](DirectSolver<T>& by) { return by.factorise(a) ? backward_error<T>(a, by) : inf; };
  double error = error_of(*solver);
  for (const DirectBody body : {DirectBody::best, DirectBody::eigen}) {
    if (error < near_rounding || (body == DirectBody::eigen && a.rows > most_rows)) break;
    if (body == DirectBody::best && solver->space() == Space::host) continue;  // is that of the processor already
    auto other = analyse<T>(a, kind, body);
    if (other->estimate().by == solver->estimate().by) continue;
    const double of_other = error_of(*other);
    if (of_other < error) solver = std::move(other), error = of_other;
  }
  return error;
}

#define TS_INSTANTIATE(T)                                                                                           \
  template std::unique_ptr<DirectSolver<T>> analyse<T>(CsrView<T>, FactorKind, DirectBody, const std::vector<int>&, \
                                                       const cuda::Stream&);                                        \
  template double factorise_well<T>(std::unique_ptr<DirectSolver<T>>&, CsrView<T>, FactorKind);                     \
  template double backward_error<T>(CsrView<T>, const DirectSolver<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
