#include "tallskinny/solvers/eigen/general/similar.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/general/krylov_schur_detail.hpp"
#include "tallskinny/solvers/operator.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

constexpr double largest_condition = 1e4;

/// log(d_j / d_i) that makes the entries (i, j) and (j, i) of D^-1 A D each other's conjugates; NaN where none does.
/// @param turned the conjugate of a_ji
template <class T>
double step_of(const T& a, const T& turned) {
  constexpr double real_enough = 4 * unit_roundoff;
  if (a == T{} || turned == T{}) return a == turned ? 0 : nan;
  const T ratio = turned / a;
  const double size = std::real(ratio);
  if (!(size > 0) || std::abs(std::imag(ratio)) > real_enough * size) return nan;
  return 0.5 * std::log(size);
}

/// log(d_i) of all rows, from one row of each component on; empty where entries contradict each other.
template <class T>
std::vector<double> logarithms_of_scale(CsrView<T> a, CsrView<T> turned) {
  // Rounding of entries and of sums over a path.
  constexpr double agrees = 1e-12;
  std::vector<double> logs(at(a.rows), nan);
  std::vector<index_t> open;
  for (index_t first = 0; first < a.rows; ++first) {
    if (!std::isnan(logs[at(first)])) continue;
    logs[at(first)] = 0, open.push_back(first);
    while (!open.empty()) {
      const index_t i = open.back();
      open.pop_back();
      for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) {
        double& log = logs[at(a.indices[e])];
        const double reached = logs[at(i)] + step_of(a.values[e], turned.values[e]);
        if (std::isnan(log)) log = reached, open.push_back(a.indices[e]);
        if (!(std::abs(log - reached) <= agrees * (1 + std::abs(log)))) return {};
      }
    }
  }
  return logs;
}

}  // namespace

template <class T>
std::shared_ptr<SimilarHermitian<T>> similar_hermitian(CsrView<T> a) {
  const CsrMatrix<T> turned = adjoint_of<T>(a);
  const auto entries = at(a.nonzeros());
  if (a.rows != a.cols || !std::equal(a.pointers, a.pointers + a.rows + 1, turned.pointers.begin()) ||
      !std::equal(a.indices, a.indices + entries, turned.indices.begin()))
    return nullptr;
  const auto logs = logarithms_of_scale<T>(a, turned.view());
  if (logs.empty()) return nullptr;
  const auto [low, high] = std::minmax_element(logs.begin(), logs.end());
  auto out = std::make_shared<SimilarHermitian<T>>();
  out->condition = std::exp(*high - *low);
  if (!(out->condition <= largest_condition)) return nullptr;
  for (const double log : logs) out->scale.push_back(std::exp(log - *high));
  out->matrix = {a.rows, a.cols, {a.pointers, a.pointers + a.rows + 1}, {a.indices, a.indices + entries}, {}};
  out->matrix.values.resize(entries);
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) {
      const T x = a.values[e], y = turned.values[at(e)];
      const double size = std::abs(x), other = std::abs(y);
      out->matrix.values[at(e)] =
          size > 0 ? (a.indices[e] < i ? x / size : y / other) * std::sqrt(size) * std::sqrt(other) : T{};
    }
  return out;
}

template <class T>
GeneralResult solve_similar(const Context& ctx, const GeneralProblem<T>& problem, const GeneralOptions& options,
                            const Checkpointing<T>& checkpointing) {
  const SimilarHermitian<T>& similar = *problem.similar;
  EigenOptions o = options.common;
  o.method = similar.method, o.vectors = true, o.results = Results::on_host, o.tol /= similar.condition;
  o.which = options.part == GeneralWhich::LR ? Which::LA : options.part == GeneralWhich::SR ? Which::SA : Which::LM;
  if (problem.target) o.which = Which::LM;
  EigenResult<T> found = solve_eigen<T>(ctx, *similar.problem, o, {}, checkpointing);

  GeneralResult out;
  out.similar = true;
  const index_t n = problem.a.rows(), k = found.vectors.cols();
  out.values.assign(found.values.begin(), found.values.end());
  out.vectors = Matrix<Complex>(n, k);
  for (index_t j = 0; j < k; ++j) {
    double squares = 0, inverse_squares = 0;  // ||D y||, ||D^-1 y||
    for (index_t i = 0; i < n; ++i) {
      const double y = std::norm(found.vectors(i, j)), d = similar.scale[at(i)];
      squares += y * d * d, inverse_squares += y / (d * d);
    }
    const double length = std::sqrt(squares);
    out.conditions.push_back(length * std::sqrt(inverse_squares));
    for (index_t i = 0; i < n; ++i) out.vectors(i, j) = found.vectors(i, j) * (similar.scale[at(i)] / length);
  }
  out.residual_norms = general_residuals<T>(ctx, problem.a, out.vectors.cview(), out.values);
  const auto accept = acceptance_of(options.common, found.norm, n);
  for (std::size_t j = 0; j < out.values.size(); ++j) {
    // S is known as well as A is: rounding of A x says nothing against a value.
    const bool met =
        out.residual_norms[j] <= std::max(accept.bound(std::abs(out.values[j])), similar.condition * accept.rounding());
    out.converged_pairs.push_back(met && found.converged_pairs[j]);
    out.converged_count += out.converged_pairs.back() ? 1 : 0;
  }
  out.iterations = found.iterations, out.restarts = found.restarts, out.norm = found.norm;
  out.operator_applications = found.operator_applications + (is_complex<T> ? k : 2 * k);
  out.verification_applications = found.verification_applications;
  out.block_size = o.block_size, out.seconds = found.seconds, out.history = std::move(found.history);
  out.decomposed_by = found.decomposed_by, out.next_value = Complex(found.next_value);
  out.verification = found.verification, out.stop = found.stop;
  GeneralVerdict verdict;
  verdict.whole = found.verified && found.verification == Verification::all_computed;
  verdict.similar = found.verified;
  conclude(out, verdict, std::min(options.common.nev, n));
  return out;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, similar_hermitian)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, solve_similar)

}  // namespace ts::inline v0::solvers
