#include "tallskinny/solvers/direct/direct_solver.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/solvers/direct/backends.hpp"
#include "tallskinny/solvers/direct/simplicial.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/solvers/ranks/rows_product.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Without pivots factors are kept if they are as good as with them.
constexpr double near_rounding = 1e-13, without_pivots = 1e-14;

/// Null where factors take many flops.
template <class T>
std::unique_ptr<DirectSolver<T>> analyse_simplicial(CsrView<T> a, const std::vector<int>& order) {
  auto solver = std::make_unique<Simplicial<T>>(a, order, most_simplicial(a.rows));
  if (!solver->affordable()) return nullptr;
  return solver;
}

}  // namespace

template <class T>
std::unique_ptr<DirectSolver<T>> analyse(CsrView<T> a, FactorKind kind, DirectBackend backend,
                                         const std::vector<int>& order, const cuda::Stream& gpu) {
  expects(a.rows == a.cols, "a factorisation needs a square matrix");
  const auto may_be = [backend](DirectBackend one) { return backend == DirectBackend::best || backend == one; };
  std::unique_ptr<DirectSolver<T>> solver;
  if (may_be(DirectBackend::cudss)) solver = analyse_by_cudss<T>(a, kind, gpu);
  if (!solver && kind == FactorKind::ldl && backend == DirectBackend::best) solver = analyse_simplicial<T>(a, order);
  if (!solver && (may_be(DirectBackend::mumps) || backend == DirectBackend::with_pivots))
    solver = analyse_by_mumps<T>(a, kind, order);
  if (!solver && (may_be(DirectBackend::eigen) || backend == DirectBackend::with_pivots))
    solver = analyse_by_eigen<T>(a, kind);
  expects(solver != nullptr, backend == DirectBackend::cudss ? "cuDSS was not found" : "MUMPS was not found");
  return solver;
}

template <class T>
std::unique_ptr<DirectSolver<T>> analyse(const Context& ctx, CsrView<T> own, FactorKind kind, DirectBackend backend,
                                         const std::vector<int>& order, const cuda::Stream& gpu) {
  if (ctx.communicator->size() == 1) return analyse<T>(own, kind, backend, order, gpu);
  if (backend != DirectBackend::mumps_on_ranks) return analyse_by_first_rank<T>(ctx, own, kind, backend, order);
  auto solver = analyse_by_mumps<T>(ctx, own, kind, order);
  expects(solver != nullptr, "a MUMPS for ranks of Open MPI was not found on all ranks");
  return solver;
}

template <class T>
FactorEstimate sketch_factors(CsrView<T> a, double most_flops, std::vector<int>& order) {
  const Simplicial<T> sketch(a, order, most_flops);
  FactorEstimate estimate = sketch.estimate();
  if (!sketch.affordable()) estimate.flops = inf;
  if (estimate.flops <= most_simplicial(a.rows)) order = sketch.order();
  return estimate;
}

template <class T>
double backward_error(const Context& ctx, CsrView<T> own, const DirectSolver<T>& solver) {
  return solve_error<T>(ctx, own, solver).backward;
}

template <class T>
SolveError solve_error(const Context& ctx, CsrView<T> own, const DirectSolver<T>& solver) {
  if (all_rows(ctx, own.rows) == 0) return {};
  Matrix<T> b(own.rows, 1), x(own.rows, 1), ax(own.rows, 1);
  fill_random<T>(ctx, 0x5eed, 1, b.view());
  solver.solve(ctx, b.cview(), x.view());
  product_of<T>(ctx, own).apply(ctx, x.cview(), ax.view());
  const auto length = [&ctx](const Matrix<T>& column) {
    double norm = 0;
    column_norms(ctx, column.cview(), std::span<double>(&norm, 1));
    return norm;
  };
  const double of_b = length(b), of_x = length(x);
  for (index_t i = 0; i < own.rows; ++i) b(i, 0) -= ax(i, 0);
  const double residual = length(b), backward = residual / (row_sum_norm<T>(ctx, own) * of_x + of_b);
  if (!std::isfinite(backward)) return {inf, inf};
  return {backward, residual / of_b};
}

template <class T>
double factorise_well(const Context& ctx, std::unique_ptr<DirectSolver<T>>& solver, CsrView<T> own, FactorKind kind) {
  constexpr index_t most_rows = 50000;
  const index_t n = all_rows(ctx, own.rows);
  const auto error_of = [&](DirectSolver<T>& by) { return by.factorise(own) ? backward_error<T>(ctx, own, by) : inf; };
  double error = error_of(*solver);
  const bool plain = solver->estimate().by == simplicial_name, elsewhere = solver->space() != Space::host;
  double enough = plain ? without_pivots : near_rounding;
  if (plain && !(error < enough)) error = solver->refine(ctx, own, enough);
  for (const DirectBackend backend : {DirectBackend::with_pivots, DirectBackend::eigen}) {
    if (error < enough || (backend == DirectBackend::eigen && n > most_rows)) break;
    enough = near_rounding;
    if (backend == DirectBackend::with_pivots && !plain && !elsewhere) continue;  // is that already
    auto other = analyse<T>(ctx, own, kind, backend);
    if (other->estimate().by == solver->estimate().by) continue;
    const double of_other = error_of(*other);
    if (of_other < error) solver = std::move(other), error = of_other;
  }
  return error;
}

#define TS_INSTANTIATE(T)                                                                                              \
  template std::unique_ptr<DirectSolver<T>> analyse<T>(const Context&, CsrView<T>, FactorKind, DirectBackend,          \
                                                       const std::vector<int>&, const cuda::Stream&);                  \
  template std::unique_ptr<DirectSolver<T>> analyse<T>(CsrView<T>, FactorKind, DirectBackend, const std::vector<int>&, \
                                                       const cuda::Stream&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, factorise_well)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, backward_error)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_error)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, sketch_factors)

}  // namespace ts::inline v0::solvers
