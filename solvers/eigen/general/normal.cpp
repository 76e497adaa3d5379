#include "tallskinny/solvers/eigen/general/normal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/solvers/eigen/values/selection.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Y = B (A X), with B = A^H: positive semidefinite.
template <class T>
struct Gram {
  Operator<T> a, adjoint;
  [[nodiscard]] index_t rows() const { return a.rows(); }
  [[nodiscard]] Space space() const { return a.space(); }
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
    PlacedMatrix<T> ax(ctx, y.space(), x.rows(), x.cols());
    a.apply(ctx, x, ax.view());
    adjoint.apply(ctx, ax.cview(), y);
  }
};

/// Y = (A + sign A^H) X / 2.
template <class T>
struct HalfSum {
  Operator<T> a, adjoint;
  double sign = 1;
  [[nodiscard]] index_t rows() const { return a.rows(); }
  [[nodiscard]] Space space() const { return a.space(); }
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
    PlacedMatrix<T> other(ctx, y.space(), x.rows(), x.cols());
    a.apply(ctx, x, y);
    adjoint.apply(ctx, x, other.view());
    ortho::Tall<T>(ctx).add(0.5 * sign, other.cview(), T{0.5}, y);
  }
};

/// The Hermitian matrix, the end of it that is wanted, what an eigenvalue of A is there, and how much an
/// error of it counts.
template <class T>
struct Measure {
  Operator<T> matrix;
  Which end = Which::LA;
  std::function<double(Complex)> value, slope;
};

template <class T>
Measure<T> measure_of(const GeneralProblem<T>& problem, const GeneralProblem<T>& adjoint, GeneralWhich part) {
  const auto one = [](Complex) { return 1.0; };
  if (problem.inverse) {
    const Complex shift = problem.shift;
    const auto near = [shift](Complex z) { return 1 / std::abs(z - shift); };
    return {Gram<T>{*problem.inverse, *adjoint.inverse}, Which::LA, [near](Complex z) { return near(z) * near(z); },
            [near](Complex z) { return 2 * near(z) * near(z) * near(z); }};
  }
  switch (part) {
    case GeneralWhich::LR:
    case GeneralWhich::SR:
      return {HalfSum<T>{problem.a, adjoint.a}, part == GeneralWhich::LR ? Which::LA : Which::SA,
              [](Complex z) { return z.real(); }, one};
    case GeneralWhich::LI: {
      const Operator<T> k = HalfSum<T>{problem.a, adjoint.a, -1};
      const Operator<T> minus = HalfSum<T>{adjoint.a, problem.a, -1};
      return {Gram<T>{k, minus}, Which::LA, [](Complex z) { return z.imag() * z.imag(); },
              [](Complex z) { return 2 * std::abs(z.imag()); }};
    }
    case GeneralWhich::LM:
    case GeneralWhich::SI: break;
  }
  return {Gram<T>{problem.a, adjoint.a}, Which::LA, [](Complex z) { return std::norm(z); },
          [](Complex z) { return 2 * std::abs(z); }};
}

}  // namespace

template <class T>
bool is_normal(const Context& ctx, const Operator<T>& a, const Operator<T>& adjoint, std::uint64_t seed) {
  constexpr index_t columns = 4;
  constexpr double slack = 64 * unit_roundoff;
  const index_t n = a.rows();
  Matrix<T> x(n, columns), ax(n, columns), bx(n, columns), bax(n, columns), abx(n, columns);
  const Random random(seed);
  for (index_t i = 0; i < x.rows(); ++i)
    for (index_t j = 0; j < columns; ++j) x(i, j) = random.normal(static_cast<std::uint64_t>(i * columns + j));
  a.apply(ctx, x.cview(), ax.view());
  adjoint.apply(ctx, x.cview(), bx.view());
  adjoint.apply(ctx, ax.cview(), bax.view());
  a.apply(ctx, bx.cview(), abx.view());
  const auto whole = lengths(x), once = lengths(ax);
  double norm = 0;  // of A, from below
  for (index_t j = 0; j < columns; ++j) norm = std::max(norm, once[at(j)] / whole[at(j)]);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < columns; ++j) abx(i, j) -= bax(i, j);
  const auto off = lengths(abx);
  bool normal = true;
  for (index_t j = 0; j < columns; ++j) normal = normal && off[at(j)] <= slack * norm * norm * whole[at(j)];
  return normal;
}

template <class T>
Companion ask_companion(const Context& ctx, const GeneralProblem<T>& problem, const GeneralProblem<T>& adjoint,
                        const GeneralOptions& options, const GeneralResult& found, Matrix<T>& vectors) {
  const auto k = static_cast<index_t>(found.values.size());
  const Measure<T> measure = measure_of(problem, adjoint, options.part);
  EigenOptions o;
  o.nev = k, o.which = measure.end, o.tol = std::min(options.common.tol, 1e-8);
  o.convergence = Convergence::norm;
  o.seed = options.common.seed ^ 0x94d049bb133111ebu;
  o.stop = options.common.stop;
  EigenResult<T> there = solve_eigen<T>(ctx, {measure.matrix}, o);
  Companion companion;
  companion.operator_applications = 2 * there.operator_applications;
  if (there.stop == StopReason::interrupted) companion.finding = Companion::Finding::interrupted;
  if (!there.verified) return companion;

  // Both in the order of the search, the wanted first.
  std::vector<std::pair<double, double>> here;  // value and error
  for (std::size_t j = 0; j < found.values.size(); ++j)
    here.emplace_back(measure.value(found.values[j]), measure.slope(found.values[j]) * found.residual_norms[j]);
  std::sort(here.begin(), here.end());
  if (measure.end == Which::LA) std::reverse(here.begin(), here.end());
  companion.finding = Companion::Finding::agrees;
  for (std::size_t j = 0; j < here.size(); ++j) {
    const double slack = here[j].second + there.error_bounds[j] + 64 * unit_roundoff * there.norm;
    if (!(std::abs(there.values[j] - here[j].first) <= slack)) companion.finding = Companion::Finding::missing;
  }
  vectors = std::move(there.vectors);
  return companion;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, is_normal)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, ask_companion)

}  // namespace ts::inline v0::solvers
