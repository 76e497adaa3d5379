#include "tallskinny/solvers/setup/assemble.hpp"

#include <algorithm>
#include <cmath>
#include <future>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/core/sparse_of.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/setup/rows_operator.hpp"

namespace ts::inline v0::solvers {

namespace {

/// A factorisation that takes at most a fraction of a second is worth a proof of completeness.
constexpr double cheap_flops = 2e8;

/// An order that is found soon takes a few times as many as one that is sought longer.
constexpr double sketched_flops = 4 * cheap_flops;

/// A dense matrix that is not large as a sparse one, whose factors count eigenvalues; no rows unless `counts`.
template <class T>
CsrMatrix<T> entries_of_dense(const AnyView<T>& matrix, bool counts) {
  constexpr index_t most_rows = 3000;
  if (!counts || matrix.sparse() != nullptr || matrix.rows() > most_rows) return {};
  return sparse_of<T>(matrix.dense());
}

/// The analysis alone costs about as much as hundreds of passes over the pattern: that is a fraction of a second, or of
/// what block steps at a slow end would cost.
bool may_be_cheap(index_t rows, index_t entries) {
  constexpr double passes = 300, share = 0.01;
  const double cost = passes * static_cast<double>(entries);
  const EigenPlan plan = plan_eigen(rows, sizeof(double), {});
  const WayFacts facts{rows, static_cast<double>(entries)};
  return cost < cheap_flops || cost < share * ways_of(facts, plan.nev, plan.block_size, plan.max_basis).krylov.total();
}

template <class T>
FactorCost cost_of(const FactorEstimate& made) {
  return {made.flops, made.entries > 0 ? made.entries : made.bytes / (sizeof(T) + sizeof(std::int32_t))};
}
FactorCost cost_of_dense(index_t n) {
  const auto rows = static_cast<double>(n);
  return {rows * rows * rows / 3, rows * rows / 2};
}

/// With what was analysed of A - sigma M already, if anything was. A dense A is factorised as a sparse one.
template <class T>
SemidefinitePencil<T> semidefinite_pencil(const Context& ctx, const AnyView<T>& matrix, CsrView<T> mass,
                                          const std::optional<ShiftedPencil<T>>& analysed, DirectBackend by) {
  expects_one_rank(ctx, "a singular mass matrix");
  auto factor = std::make_shared<const SemidefiniteMass<T>>(mass);
  CsrMatrix<T> entries;
  if (matrix.sparse() == nullptr) entries = sparse_of<T>(matrix.dense());
  const CsrView<T> a = matrix.sparse() != nullptr ? *matrix.sparse() : entries.view();
  return {operator_of<T>(matrix), CsrOperator<T>(mass), analysed ? *analysed : ShiftedPencil<T>(ctx, a, mass, by),
          std::move(factor)};
}

/// The factor of a definite M, made beside those of A - sigma M where there are threads; ranks do one thing after the
/// other.
template <class T>
std::future<std::optional<MassFactor<T>>> begin_mass_factor(const Context& ctx, CsrView<T> mass) {
  const bool beside = ctx.communicator->size() == 1 && Context{}.thread_count() > 1;
  return std::async(beside ? std::launch::async : std::launch::deferred, [&ctx, mass, memory = host_memory()] {
    const UseHostMemory use(memory);
    return MassFactor<T>::if_definite(ctx, mass);
  });
}

template <class T>
std::string note_on(const SemidefinitePencil<T>& pencil) {
  const auto& mass = *pencil.factor;
  return "the mass matrix is singular to rounding, of rank " + std::to_string(mass.rank()) + " in " +
         std::to_string(mass.rows()) + " rows, so that at least " + std::to_string(pencil.infinite()) +
         " eigenvalues are infinite";
}

}  // namespace

template <class T>
Operator<T> operator_of(const AnyView<T>& matrix) {
  if (const auto* sparse = matrix.sparse()) return CsrOperator<T>(*sparse);
  return DenseOperator<T>(matrix.dense());
}

template <class T>
AnyMatrix<T> adjoint_of(const AnyView<T>& matrix) {
  if (const auto* sparse = matrix.sparse()) return adjoint_of<T>(*sparse);
  const auto& dense = matrix.dense();
  Matrix<T> adjoint(dense.cols(), dense.rows());
  for (index_t i = 0; i < adjoint.rows(); ++i)
    for (index_t j = 0; j < adjoint.cols(); ++j) adjoint(i, j) = conjugate(dense(j, i));
  return adjoint;
}

template <class T>
DeviceCopy<T> copy_to(const cuda::Stream& stream, const AnyView<T>& matrix) {
  if (const auto* sparse = matrix.sparse()) return DeviceCsrMatrix<T>(stream, *sparse);
  const auto& dense = matrix.dense();
  DeviceMatrix<T> there(stream, dense.rows(), dense.cols());
  copy(stream, there.view(), dense);
  stream.synchronize();
  return there;
}

template <class T>
Operator<T> operator_of(const AnyView<T>& matrix, const DeviceCopy<T>& there) {
  if (home_of<T>(there) == Space::host) return operator_of<T>(matrix);
  if (const auto* sparse = std::get_if<DeviceCsrMatrix<T>>(&there))
    return CsrOperator<T>(*matrix.sparse(), sparse->view());
  return DenseOperator<T>(matrix.dense(), std::get<DeviceMatrix<T>>(there).cview());
}

template <class T>
Rounded<T> rounded(const Context& ctx, const AnyView<T>& matrix, const DeviceCopy<T>& there) {
  const auto round = [&ctx](PlacedView<const T> numbers) { return cast<narrow_t<T>, T>(ctx, numbers); };
  Rounded<T> out;
  if (const auto* sparse = matrix.sparse())
    out.here = round(HostView<const T>(sparse->values, sparse->nonzeros(), 1));
  else
    out.here = round(matrix.dense());
  if (const auto* sparse = std::get_if<DeviceCsrMatrix<T>>(&there))
    out.there = round(DeviceView<const T>(sparse->view().values, sparse->view().stored, 1));
  else if (const auto* dense = std::get_if<DeviceMatrix<T>>(&there))
    out.there = round(dense->cview());
  return out;
}

template <class T>
Operator<narrow_t<T>> operator_of(const AnyView<T>& matrix, const DeviceCopy<T>& there, const Rounded<T>& numbers) {
  using N = narrow_t<T>;
  const PlacedView<const N> here = numbers.here.cview(), on_device = numbers.there.cview();
  if (const auto* sparse = matrix.sparse()) {
    const auto a = with_values(*sparse, here.data());
    const auto* pattern = std::get_if<DeviceCsrMatrix<T>>(&there);
    if (pattern == nullptr) return CsrOperator<N>(a);
    return CsrOperator<N>(a, with_values(pattern->view(), on_device.data()));
  }
  if (on_device.empty()) return DenseOperator<N>(here.host());
  return DenseOperator<N>(here.host(), on_device.template in<Space::device>());
}

namespace {

/// Counts by factors of a pencil, and inverses beside any shift unless there is a target.
/// @param standard what makes the inverse of the standard form from that of the pencil
template <class T, class Standard>
void count_with(const ShiftedPencil<T>& pencil, double flop_limit, double mass_least, const Standard& standard,
                EigenProblem<T>& problem) {
  problem.count_below = InertiaCounter<T>(pencil, flop_limit, mass_least);
  if (problem.target) return;
  // Called only after a count at the same shift, so only where a factorisation is needed or cheap.
  problem.invert = [shifts = pencil, standard](double sigma) -> std::optional<ShiftedInverse<T>> {
    const ShiftInvert<T> at_sigma(shifts, sigma);
    return ShiftedInverse<T>{standard(at_sigma), at_sigma.sigma()};
  };
}

}  // namespace

namespace {

/// assemble(), with what was analysed of A - sigma M already, if anything was.
template <class T>
Assembled<T> assemble_with(const Context& ctx, const AnyView<T>& matrix, const std::optional<CsrView<T>>& mass,
                           std::optional<double> target, const FactorPlan& factors, const DeviceCopy<T>& there,
                           std::optional<ShiftedPencil<T>> pencil) {
  const bool alone = ctx.communicator->size() == 1;
  Assembled<T> out{EigenProblem<T>{alone ? operator_of<T>(matrix, there) : rows_operator_of<T>(ctx, matrix)},
                   std::nullopt};
  const Space home = home_of<T>(there);
  auto& problem = out.problem;
  problem.target = target;
  const CsrMatrix<T> of_dense = entries_of_dense<T>(matrix, alone && factors.what == Factorise::needed);
  const CsrView<T> entries = of_dense.view();
  const auto* sparse = of_dense.rows > 0 && !target ? &entries : matrix.sparse();
  const CsrView<T> m = mass ? *mass : CsrView<T>{};
  if (sparse == nullptr && target) expects_one_rank(ctx, "a dense factorisation");
  std::optional<ShiftInvert<T>> inverse;
  std::future<std::optional<MassFactor<T>>> of_mass;
  if (mass) of_mass = begin_mass_factor<T>(ctx, m);
  if (sparse != nullptr && factors.what == Factorise::needed) {
    // One analysis for the inverse and for all counts.
    if (!pencil) pencil.emplace(ctx, *sparse, m, factors.by, factors.gpu);
    if (factors.before) agreed(ctx, [&, estimate = pencil->estimate()] { factors.before(estimate); });
    if (target) inverse.emplace(*pencil, *target);
  }
  double mass_least = 1;
  if (mass) {
    const Profile::Piece piece(Context{}, "Cholesky factor of the mass matrix", {}, std::nullopt);
    out.factor = of_mass.get();
    if (!out.factor) {
      out.semidefinite = semidefinite_pencil<T>(ctx, matrix, m, pencil, factors.by);
      out.note = note_on(*out.semidefinite);
      return out;
    }
    mass_least = out.factor->least();
    problem.a = at_home(home, out.factor->standard(problem.a));
  }
  if (factors.what == Factorise::nothing) return out;
  const auto standard = [factor = out.factor, home](Operator<T> of_pencil) {
    return at_home(home, factor ? factor->standard_inverse(std::move(of_pencil)) : of_pencil);
  };
  if (inverse) {
    // Only the rank that has the factors knows; all choose by these numbers.
    const FactorCost made = cost_of<T>(pencil->estimate());
    problem.factors = {max_of_ranks(ctx, made.flops), max_of_ranks(ctx, made.entries)};
  }
  const auto take = [&](const FactoredInverse<T>& of_pencil, Operator<T> op) {
    problem.inverse = standard(std::move(op)), problem.shift = of_pencil.sigma(), out.note = of_pencil.note();
  };
  if (sparse == nullptr) {
    if (!target) return out;
    const DenseShiftInvert<T> dense(matrix.dense(), *target, m);
    take(dense, dense);
    if (of_dense.rows > 0) problem.count_below = InertiaCounter<T>(entries, 0, m, mass_least);
    return out;
  }
  if (!pencil) {
    if (!target && !may_be_cheap(sparse->cols, alone ? sparse->nonzeros() : problem.a.facts().entries)) return out;
    // Cheap factorisations take less time on the processor.
    pencil.emplace(ctx, *sparse, m, factors.by);
    if (target) {
      inverse.emplace(*pencil, *target);
    } else {
      const FactorEstimate sketch = pencil->sketch(sketched_flops);
      if (std::isinf(sketch.flops)) return out;
      problem.factors = {sketch.flops, sketch.entries};
    }
  }
  if (inverse) take(*inverse, *inverse);
  count_with<T>(*pencil, factors.what == Factorise::needed ? 0 : cheap_flops, mass_least, standard, problem);
  return out;
}

/// Does LAPACK take less than what factors of A - sigma M would? `pencil` becomes what is analysed to know.
template <class T>
bool whole_costs_less(const Context& ctx, const AnyView<T>& matrix, CsrView<T> mass, bool interval,
                      const FactorPlan& factors, const EigenOptions& options, std::optional<ShiftedPencil<T>>& pencil) {
  const index_t n = matrix.rows();
  const bool may = options.method == Method::automatic && options.max_iterations == 0 && n <= takeover_rows;
  if (!may || n == 0 || ctx.communicator->size() > 1 || factors.what != Factorise::needed) return false;
  const EigenPlan plan = plan_eigen(n, sizeof(T), options);
  WayFacts facts{n, 0, cost_of_dense(n)};
  if (const auto* sparse = matrix.sparse()) {
    pencil.emplace(ctx, *sparse, mass, factors.by, factors.gpu);
    const FactorEstimate sketch = pencil->sketch(facts.factors.flops);
    if (std::isfinite(sketch.flops)) facts.factors = {sketch.flops, sketch.entries};
  }
  if (interval) facts.factors.count = factors_of_interval;
  return ways_of(facts, plan.nev, plan.block_size, plan.max_basis).dense_beside_inverse();
}

}  // namespace

template <class T>
Assembled<T> assemble(const Context& ctx, const AnyView<T>& matrix, const std::optional<CsrView<T>>& mass,
                      std::optional<double> target, const FactorPlan& factors, const DeviceCopy<T>& there) {
  return assemble_with<T>(ctx, matrix, mass, target, factors, there, std::nullopt);
}

template <class T>
Assembled<T> assemble_or_whole(const Context& ctx, index_t n, const AnyView<T>& matrix,
                               const std::optional<CsrView<T>>& mass, std::optional<double> target,
                               const FactorPlan& factors, const DeviceCopy<T>& there, EigenOptions& options) {
  std::optional<ShiftedPencil<T>> pencil;
  if (whole_costs_less<T>(ctx, matrix, mass.value_or(CsrView<T>{}), !target, factors, options, pencil)) {
    options.method = Method::dense;
    // Only ends of intervals may need counts.
    const FactorPlan counts{target ? Factorise::nothing : Factorise::needed, nullptr, factors.gpu, factors.by};
    auto whole = assemble_with<T>(ctx, matrix, mass, target, counts, there, pencil);
    if (!whole.semidefinite) return whole;
    options.method = Method::automatic;
  }
  try {
    return assemble_with<T>(ctx, matrix, mass, target, factors, there, std::move(pencil));
  } catch (const Error&) {
    if (factors.what != Factorise::needed || n > takeover_rows) throw;
    options.method = Method::dense;
    return assemble<T>(ctx, matrix, mass, target, {});
  }
}

template <class T>
std::optional<FactorEstimate> estimate_factors(const Context& ctx, const AnyView<T>& matrix,
                                               const std::optional<CsrView<T>>& mass, FactorKind kind,
                                               DirectBackend by) {
  const auto* sparse = matrix.sparse();
  if (sparse == nullptr) return std::nullopt;
  if (kind == FactorKind::lu) return GeneralInverse<T>::estimate(*sparse);
  return ShiftedPencil<T>(ctx, *sparse, mass.value_or(CsrView<T>{}), by).estimate();
}

template <class T>
FactorCost factor_cost(const Context& ctx, const AnyView<T>& matrix, const std::optional<CsrView<T>>& mass,
                       Factorise what, const std::optional<FactorEstimate>& estimate) {
  const auto* sparse = matrix.sparse();
  if (what == Factorise::needed) return estimate ? cost_of<T>(*estimate) : cost_of_dense(matrix.rows());
  if (what == Factorise::nothing || sparse == nullptr || !may_be_cheap(sparse->cols, sparse->nonzeros())) return {};
  const FactorEstimate found = ShiftedPencil<T>(ctx, *sparse, mass.value_or(CsrView<T>{})).sketch(sketched_flops);
  return std::isfinite(found.flops) ? cost_of<T>(found) : FactorCost{};
}

#define TS_INSTANTIATE(T)                                                       \
  template Operator<T> operator_of<T>(const AnyView<T>&);                       \
  template Operator<T> operator_of<T>(const AnyView<T>&, const DeviceCopy<T>&); \
  template Operator<narrow_t<T>> operator_of<T>(const AnyView<T>&, const DeviceCopy<T>&, const Rounded<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, adjoint_of)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, copy_to)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, rounded)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, assemble)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, assemble_or_whole)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, estimate_factors)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, factor_cost)

}  // namespace ts::inline v0::solvers
