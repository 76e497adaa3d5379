// Block Lanczos with another operator for an end of the spectrum that converges slowly.
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/hermitian/chebyshev.hpp"
#include "tallskinny/solvers/eigen/hermitian/lanczos_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Below this tolerance the rounding of a filter shows.
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
EndAndEdge end_and_edge(const Lanczos<T>& run, bool low) {
  const index_t m = run.pairs.ritz.size(), edge = std::min(run.plan.nev + run.plan.block_size, m - 1);
  return low ? EndAndEdge{0, edge} : EndAndEdge{m - 1, m - 1 - edge};
}
template <class T>
EndAndEdge end_and_edge(const Lanczos<T>& run) {
  return end_and_edge(run, run.pairs.which == Which::SA);
}

/// A shift, and how far eigenvalues should be from it.
struct Shift {
  double at, clearance;
};

/// Beyond the leading Ritz value, about as far as the wanted values are apart; with an inverse those only that change
/// much.
template <class T>
void add_beyond_ritz(const Lanczos<T>& run, std::vector<Shift>& shifts) {
  constexpr double nearer = 8, much_farther = 1e-5;
  const auto& now = run.accept.transform;
  const auto [end, edge] = end_and_edge(run);
  const double leading = now.eigenvalue(run.pairs.ritz.values[at(end)]), had = std::abs(leading - now.sigma);
  double away = leading - now.eigenvalue(run.pairs.ritz.values[at(edge)]);
  for (int attempt = 0; attempt < 3 && away != 0; ++attempt, away *= nearer)
    if (!run.accept.transformed() || std::abs(away) * nearer <= had || had < much_farther * std::abs(away))
      shifts.push_back({leading + away, std::abs(away) / 4});
}

/// Shifts beyond the wanted end, the best first: beside zero, which is just outside for definite matrices, beside a
/// bound of the spectrum that is near its end, and beyond that end as it is seen from inside.
template <class T>
std::vector<Shift> shifts_beyond(const Lanczos<T>& run, bool low) {
  constexpr double beside = 1e-10, closer = 1e-13, tightly = 0.02;
  std::vector<Shift> shifts;
  const bool seen = run.pairs.ritz.size() > 0;
  if (seen && run.accept.transform.kind == SpectralTransform::Kind::inverse) {
    add_beyond_ritz(run, shifts);
    return shifts;
  }
  const OperatorFacts facts = run.problem.a.facts();
  const double norm = run.within.norm, spread = run.within.high - run.within.low;
  // Seen from the end: outwards is positive.
  const double side = low ? -1 : 1, end = low ? run.within.low : run.within.high, bound = low ? facts.low : facts.high;
  const auto add = [&](double at, double away) { shifts.push_back({at + side * away, away / 4}); };
  if (side * end <= beside * norm && side * bound > 0) add(0, closer * norm), add(0, beside * norm);
  const bool tight = side * (bound - end) <= tightly * spread;
  if (tight) add(bound, beside * norm);
  if (seen) add_beyond_ritz(run, shifts);
  for (double away = spread / 64; !tight && away < spread / 2; away *= 4) add(end, away);
  if (!tight && std::isfinite(bound)) add(bound, beside * norm);
  return shifts;
}

/// A shift that a count proves to be beyond the wanted end, where factors may be had.
template <class T>
std::optional<SpectralTransform> inverse_beyond(const Lanczos<T>& run, const std::vector<Shift>& shifts) {
  const EigenProblem<T>& problem = run.problem;
  const bool low = run.options.which == Which::SA;
  for (const auto& [sigma, clearance] : shifts) {
    const auto below = problem.count_below(sigma, clearance);
    if (!below || *below != (low ? 0 : run.krylov.all_rows())) continue;
    SpectralTransform transform;
    transform.kind = SpectralTransform::Kind::inverse, transform.sigma = sigma;
    return transform;
  }
  return std::nullopt;
}

/// Whether Method::automatic may go through an inverse at an end.
template <class T>
bool may_invert(const Lanczos<T>& run) {
  const EigenProblem<T>& problem = run.problem;
  return run.options.method == Method::automatic && !problem.inverse && problem.invert && problem.count_below;
}

/// A first filter for an end; nothing when it would not pay.
template <class T>
std::optional<SpectralTransform> worthwhile_filter(const Lanczos<T>& run, bool low) {
  const Method method = run.options.method;
  if (method != Method::automatic && method != Method::chebyshev) return std::nullopt;
  const OperatorFacts facts = run.problem.a.facts();
  if (method == Method::automatic && (facts.entries < 0 || run.options.tol < filtered_tolerance)) return std::nullopt;
  const auto& [values, s, residuals] = run.pairs.ritz;
  // Bounds of what was seen, not of the spectrum: mend_filter() sees what lies beyond.
  const double far = low ? std::min(facts.high, values.back() + residuals.back())
                         : std::max(facts.low, values.front() - residuals.front());
  const auto [end, edge] = end_and_edge(run, low);
  return choose_filter(values[at(end)], values[at(edge)], far, longest_first);
}

template <class T>
void begin_anew(Lanczos<T>& run) {
  run.course.steps_before = run.krylov.work().steps;
  run.krylov.start(run.initial, run.plan.block_size);
}

/// Flops until the wanted pairs have converged, if their residuals go on falling as they have with this operator.
template <class T>
double cost_of_rest(const Lanczos<T>& run) {
  const auto steps = static_cast<double>(run.krylov.work().steps - run.course.steps_before);
  const double fallen = progress_of(run, run.record.history.back().ratios);
  return steps * (1 - fallen) / fallen * cost_of_step(run);
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

}  // namespace

template <class T>
double cost_of_step(const Lanczos<T>& run) {
  using Kind = SpectralTransform::Kind;
  const SpectralTransform& transform = run.accept.transform;
  if (transform.kind == Kind::inverse) return run.ways.inverse.step;
  return run.ways.filtered_step(transform.kind == Kind::chebyshev ? transform.degree : 1);
}

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
bool mend_filter(Lanczos<T>& run) {
  constexpr double lifted = -2, farther = 0.05;
  const SpectralTransform now = run.accept.transform;
  if (now.kind != SpectralTransform::Kind::chebyshev) return false;
  const double nu = run.pairs.ritz.values.front();
  if (nu > lifted) return false;
  const double edge = now.centre + now.half_width;
  const double seen = now.centre - now.half_width * std::cosh(std::acosh(-nu) / static_cast<double>(now.degree));
  const OperatorFacts facts = run.problem.a.facts();
  double far = seen + farther * (seen - edge);
  far = run.options.which == Which::SA ? std::min(far, std::max(facts.high, seen))
                                       : std::max(far, std::min(facts.low, seen));
  install(run, chebyshev_transform(edge, far, now.degree));
  begin_anew(run);
  return true;
}

template <class T>
bool leave_to_ends(Lanczos<T>& run) {
  const bool kept = run.checkpointing.write || run.checkpointing.resume != nullptr, be = run.options.which == Which::BE;
  if (is_narrow<T> || (!be && run.options.which != Which::LM) || kept || run.problem.inverse ||
      run.options.method != Method::automatic)
    return false;
  const index_t n = run.krylov.all_rows();
  const OperatorFacts facts = run.problem.a.facts();
  const Ends beyond = be ? Ends{run.plan.nev / 2, run.plan.nev - run.plan.nev / 2}
                         : Ends{facts.low < 0 ? n : 0, facts.high > 0 ? n : 0};
  if (beyond.total() < run.plan.nev) return false;
  const bool first = run.krylov.work().steps == 0;
  if (first && !(may_invert(run) && run.ways.inverse_at_once())) return false;
  double cost = 0;  // of a run at each end
  for (const bool low : {true, false})
    if (!first && (low ? beyond.low : beyond.high) > 0) {
      const auto filter = worthwhile_filter(run, low);
      cost +=
          std::min(may_invert(run) ? run.ways.inverse.total() : inf, filter ? run.ways.filtered(filter->degree) : inf);
    }
  if (!first && !(cost < cost_of_rest(run))) return false;
  run.course.beyond = beyond;
  return true;
}

template <class T>
bool take_inverse(Lanczos<T>& run, double others) {
  constexpr int most = 6;
  const Which which = run.options.which;
  if (run.course.transforms >= most || (which != Which::SA && which != Which::LA) || !may_invert(run)) return false;
  const bool through = run.accept.transform.kind == SpectralTransform::Kind::inverse;
  if (!through && !(run.ways.inverse.total() < others)) return false;
  if (run.within.norm == 0)
    run.within = estimate_ends(run.ctx, run.problem.a, run.options.seed, run.course.norm_applications);
  const auto shifts = shifts_beyond(run, which == Which::SA);
  if (shifts.empty()) return false;  // that which it has serves
  const auto transform = inverse_beyond(run, shifts);
  run.course.transforms = transform || through ? run.course.transforms + 1 : most;
  if (transform) install(run, *transform);
  return transform.has_value();
}

template <class T>
bool transform_operator(Lanczos<T>& run) {
  const Which which = run.pairs.which;
  if (run.problem.inverse || (which != Which::SA && which != Which::LA)) return false;
  using Kind = SpectralTransform::Kind;
  const Kind now = run.accept.transform.kind;
  std::optional<SpectralTransform> filter;
  if (now == Kind::chebyshev) filter = worthwhile_longer_filter(run);
  if (now == Kind::none) filter = worthwhile_filter(run, which == Which::SA);
  double others = cost_of_rest(run);
  if (now == Kind::none && filter) {
    const double filtered = run.ways.filtered(filter->degree);
    if (filtered > others && run.options.method == Method::automatic) filter.reset();
    others = std::min(others, filtered);
  }
  if (!take_inverse(run, others)) {
    if (!filter || now == Kind::inverse) return false;
    install(run, *filter);
  }
  begin_anew(run);
  return true;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, install)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, mend_filter)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, leave_to_ends)
#define TS_INSTANTIATE(T) template bool take_inverse<T>(Lanczos<T>&, double);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, cost_of_step)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, transform_operator)

}  // namespace ts::inline v0::solvers
