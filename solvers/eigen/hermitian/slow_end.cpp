// Block Lanczos with another operator for an end of the spectrum that converges slowly.
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/hermitian/chebyshev.hpp"
#include "tallskinny/solvers/eigen/hermitian/lanczos_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Below this size a filter saves nothing that would be noticed; below this tolerance its rounding shows.
constexpr index_t filtered_rows = 20000;
constexpr double filtered_tolerance = 1e-12;
/// A first basis of A itself cannot justify a longer polynomial; a basis of a filter can.
constexpr index_t longest_first = 63, longest = 1023;

/// Rounding in A x moves what T_d is taken of by u, and T_d itself by u T_d' / T_d, about u d^2 / 4 at the
/// end that it lifts to cosh(4). In float64 what is allowed for the number of rows covers it.
template <class T>
double recurrence_noise(index_t degree) {
  const auto d = static_cast<double>(degree);
  return is_narrow<T> ? std::max(1.0, d * d / 4) : 1.0;
}

/// Numbers of the Ritz values at the wanted end (SA or LA of A) and at the edge of what a transform should
/// resolve: as many as are wanted and a block more. Ritz values bound the eigenvalues of the same number from
/// inside (Cauchy): none wanted lies beyond the edge.
struct EndAndEdge {
  index_t end, edge;
};

template <class T>
EndAndEdge end_and_edge(const Lanczos<T>& run) {
  const index_t m = run.pairs.ritz.size(), edge = std::min(run.plan.nev + run.plan.block_size, m - 1);
  return run.pairs.which == Which::SA ? EndAndEdge{0, edge} : EndAndEdge{m - 1, m - 1 - edge};
}

/// Where a factorisation is cheap: a shift beyond the wanted end, about as far as the wanted values are
/// apart, with a count that proves it to be beyond. The Ritz values are those of a full basis; a later, more
/// accurate one may bring the shift nearer.
template <class T>
std::optional<SpectralTransform> worthwhile_inverse(const Lanczos<T>& run) {
  constexpr double nearer = 8;
  const EigenProblem<T>& problem = run.problem;
  if (!problem.invert || !problem.count_below || run.options.method != Method::automatic) return std::nullopt;
  const auto [end, edge] = end_and_edge(run);
  const auto& now = run.accept.transform;
  const double leading = now.eigenvalue(run.pairs.ritz.values[at(end)]);
  double away = leading - now.eigenvalue(run.pairs.ritz.values[at(edge)]);
  for (int attempt = 0; attempt < 3 && away != 0; ++attempt, away *= nearer) {
    if (run.accept.transformed() && std::abs(away) * nearer > std::abs(leading - now.sigma)) break;
    const double sigma = leading + away;
    const auto below = problem.count_below(sigma, std::abs(away) / 4);
    if (!below) break;
    if (*below != (run.options.which == Which::SA ? 0 : run.krylov.all_rows())) continue;
    SpectralTransform transform;
    transform.kind = SpectralTransform::Kind::inverse, transform.sigma = sigma;
    return transform;
  }
  return std::nullopt;
}

/// A first filter for the wanted end; nothing when it would not pay.
template <class T>
std::optional<SpectralTransform> worthwhile_filter(const Lanczos<T>& run) {
  const Method method = run.options.method;
  if (method != Method::automatic && method != Method::chebyshev) return std::nullopt;
  const OperatorFacts facts = run.problem.a.facts();
  const index_t n = run.krylov.all_rows();
  if (method == Method::automatic) {
    // A step costs about max_basis flops for each element of its block, an application the entries of a row.
    const bool cheap = facts.entries >= 0 && facts.entries < run.plan.max_basis * n;
    if (!cheap || n < filtered_rows || run.options.tol < filtered_tolerance) return std::nullopt;
  }
  const auto& [values, s, residuals] = run.pairs.ritz;
  const double far = run.pairs.which == Which::SA ? std::min(facts.high, values.back() + residuals.back())
                                                  : std::max(facts.low, values.front() - residuals.front());
  const auto [end, edge] = end_and_edge(run);
  return choose_filter(values[at(end)], values[at(edge)], far, longest_first);
}

/// The edge of the first filter stems from a basis of A itself, which resolves the end of a large spectrum
/// poorly. A basis of the filter knows it better, and one of a longer filter better still. Starting anew pays
/// soon where products with A cost little beside a block step, as they do on a device, and anywhere when the
/// polynomial was far too short.
template <class T>
std::optional<SpectralTransform> worthwhile_longer_filter(const Lanczos<T>& run) {
  const index_t longer = run.problem.a.space() == Space::host ? 4 : 2;
  const auto& now = run.accept.transform;
  const auto [end, edge] = end_and_edge(run);
  const auto& values = run.pairs.ritz.values;
  const auto next = choose_filter(now.eigenvalue(values[at(end)]), now.eigenvalue(values[at(edge)]),
                                  now.centre - now.half_width, longest);
  return next && next->degree >= longer * now.degree ? next : std::nullopt;
}

/// LM: how many eigenvalues at each end can be among the wanted, by counts; false where they cannot be had.
template <class T>
bool count_beyond(Lanczos<T>& run) {
  // Beyond the magnitude of a Ritz value lie at least as many eigenvalues as Ritz values (Cauchy).
  const std::vector<double>& values = run.pairs.ritz.values;
  const auto m = static_cast<index_t>(values.size());
  const Ends ends = wanted_ends(values, Which::LM, std::min(run.plan.nev + run.plan.block_size, m - 1));
  const double radius = thresholds(values, Which::LM, ends).high;
  const double leading = std::max(std::abs(values.front()), std::abs(values.back()));
  const double clearance = std::max((leading - radius) / 16, 1e-10 * leading), limit = radius - 2 * clearance;
  const auto low = run.problem.count_below(-limit, clearance);
  const auto not_high = low ? run.problem.count_below(limit, clearance) : std::nullopt;
  if (!(limit > 0) || !not_high) return false;
  const Ends beyond{*low, run.krylov.all_rows() - *not_high};
  if (beyond.total() < run.plan.nev) return false;
  run.course.beyond = beyond;
  return true;
}

/// BE: half of the wanted at each end; false where nothing is factorised cheaply.
template <class T>
bool halve(Lanczos<T>& run) {
  const std::vector<double>& values = run.pairs.ritz.values;
  const double away = values.back() - values.front();
  if (!(away > 0) || !run.problem.count_below(values.front() - away, away / 4)) return false;
  run.course.beyond = {run.plan.nev / 2, run.plan.nev - run.plan.nev / 2};
  return true;
}

}  // namespace

template <class T>
void install(Lanczos<T>& run, const SpectralTransform& transform) {
  const bool low = run.options.which == Which::SA;
  run.accept.transform = transform;
  if (transform.kind == SpectralTransform::Kind::inverse) {
    const auto factor = run.problem.invert(transform.sigma);
    expects(factor.has_value(), "A - sigma I was factorised before and cannot be factorised again");
    run.accept.transform.sigma = factor->shift;
    run.krylov.replace_operator(factor->inverse, 1);
    run.pairs.which = low ? Which::LA : Which::SA;  // of 1 / (lambda - sigma), with sigma beyond the end
  } else {
    run.krylov.replace_operator(ChebyshevFilter<T>(run.problem.a, transform), transform.degree,
                                recurrence_noise<T>(transform.degree));
    run.pairs.which = Which::LA;  // of T_d
  }
}

template <class T>
bool leave_to_ends(Lanczos<T>& run) {
  const EigenProblem<T>& problem = run.problem;
  const bool kept = run.checkpointing.write || run.checkpointing.resume != nullptr;
  const bool both = run.options.which == Which::LM || run.options.which == Which::BE;
  if (is_narrow<T> || !both || run.options.method != Method::automatic || kept) return false;
  if (problem.inverse || !problem.invert || !problem.count_below || run.course.transforms > 0) return false;
  // Two runs fill a basis each, and another through the inverse: is that less than what the search has left to do?
  const double done = progress_of(run, {run.record.history.back().worst}), bases = 4;
  const index_t fill = run.plan.max_basis / run.plan.block_size, steps = run.krylov.work().steps;
  if (static_cast<double>(steps) * (1 - done) <= bases * static_cast<double>(fill) * done) return false;
  run.course.transforms = 1;  // asked once
  return run.options.which == Which::BE ? halve(run) : count_beyond(run);
}

template <class T>
bool transform_operator(Lanczos<T>& run) {
  constexpr int most = 6;
  const Which which = run.pairs.which;
  if (run.problem.inverse || (which != Which::SA && which != Which::LA)) return false;
  const bool filtered = run.accept.transform.kind == SpectralTransform::Kind::chebyshev;
  std::optional<SpectralTransform> transform;
  if (run.course.transforms < most) transform = worthwhile_inverse(run);
  if (!transform && filtered) transform = worthwhile_longer_filter(run);
  if (!transform && !run.accept.transformed() && run.course.transforms < most) transform = worthwhile_filter(run);
  run.course.transforms = transform ? run.course.transforms + 1 : most;
  if (!transform) return false;
  install(run, *transform);
  run.krylov.start(run.initial, run.plan.block_size);
  return true;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, install)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, leave_to_ends)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, transform_operator)

}  // namespace ts::inline v0::solvers
