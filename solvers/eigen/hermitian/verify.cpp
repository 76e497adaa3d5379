// Block Lanczos: is the set complete? Cycles from fresh random blocks in the complement of what was found.
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/hermitian/lanczos_detail.hpp"

namespace ts::inline v0::solvers {

template <class T>
CountVerdict count_settles(const Lanczos<T>& run) {
  const EigenProblem<T>& problem = run.problem;
  if (!problem.count_below) return {};
  const auto& [which, ritz, ends, next_low, next_high] = run.pairs;
  const SpectralTransform& transform = run.accept.transform;
  FoundSet found;
  found.n = run.krylov.all_rows(), found.norm = run.accept.norm;
  for (const index_t i : run.pairs.indices()) {
    const double value = ritz.values[at(i)];
    found.values.push_back(transform.eigenvalue(value));
    found.tolerance = std::max(found.tolerance, run.accept.bound(found.values.back()));
    found.errors.push_back(transform.residual_of_a(value, ritz.residuals[at(i)], run.accept.largest));
  }
  if (run.pairs.has_outside()) {
    found.next_low = outside_value(transform, ritz.values[at(run.pairs.first_low())]);
    found.next_high = outside_value(transform, ritz.values[at(run.pairs.first_high())]);
  }
  if (problem.inverse)
    return which == Which::LM ? count_near(found, problem.shift, problem.count_below) : CountVerdict{};
  if (which == run.options.which || which == Which::LM)
    return count_ends(found, run.options.which, ends, problem.count_below);
  // The transform turned the spectrum around.
  std::reverse(found.values.begin(), found.values.end());
  std::reverse(found.errors.begin(), found.errors.end());
  std::swap(found.next_low, found.next_high);
  return count_ends(found, run.options.which, {ends.high, ends.low}, problem.count_below);
}

template <class T>
void begin_verification(Lanczos<T>& run) {
  const Ritz<T>& ritz = run.pairs.ritz;
  const auto limits = run.pairs.limits();
  const double slack = slack_of(run.pairs, run.krylov.rounding());

  // Deflate the wanted pairs and those others whose residual r is small against their distance d from the
  // threshold: an eigenvalue they hide can reach the threshold only by r^2 / d (Schur complement of A - t I).
  const auto most = at(std::max<index_t>(0, run.plan.max_basis + run.plan.block_size - 6 * run.plan.block_size));
  std::vector<index_t> keep = run.pairs.indices();
  double hidden = 0;
  for (index_t low = run.pairs.first_low(), high = run.pairs.first_high(); low <= high;) {
    const double distance_low = ritz.values[at(low)] - limits.low;
    const double distance_high = limits.high - ritz.values[at(high)];
    const index_t i = distance_low < distance_high ? low++ : high--;
    const double d = std::min(distance_low, distance_high), r = ritz.residuals[at(i)];
    const bool good = run.accept.ratio(ritz.values[at(i)], r) <= 1 || r <= 0.1 * d;
    if (!good || keep.size() >= most) break;
    if (d > slack) hidden += r * r / d;
    keep.push_back(i);
  }
  std::sort(keep.begin(), keep.end());

  thick_restart(run.krylov, ritz, keep);
  run.cycle = {true, limits, slack, hidden, run.krylov.lock(run.plan.block_size)};
}

namespace {

/// Beyond which thresholds a cycle found a Ritz value.
struct Beyond {
  bool low = false, high = false;
};

/// Keeps half of the Ritz vectors of a cycle, from the ends that are open.
template <class T>
void restart_cycle(Lanczos<T>& run, const Ritz<T>& ritz) {
  const Thresholds& limits = run.cycle.limits;
  index_t half = std::max<index_t>(1, std::min(ritz.size() / 2, keep_limit(run)));
  // As in a restart of the search: kernels of few widths.
  if (run.problem.a.space() == Space::device && half > run.plan.block_size) half -= half % run.plan.block_size;
  Ends ends{0, 0};
  if (std::isfinite(limits.low)) ends.low = half;
  if (std::isfinite(limits.high)) ends.high = half;
  if (ends.low > 0 && ends.high > 0) ends = {half / 2, half - half / 2};
  thick_restart(run.krylov, ritz, indices_of(ends, ritz.size()));
  ++run.record.restarts;
}

/// Is nothing missing at an end whose leading Ritz value is so far inside of its threshold?
template <class T>
bool shows_nothing(const Lanczos<T>& run, double threshold, double distance, double value, double residual) {
  if (!std::isfinite(threshold)) return true;
  if (residual <= trust_factor(run.plan.block_size) * distance && run.cycle.hidden <= 0.5 * distance) return true;
  // A copy of the threshold value, left out by the cut.
  if (std::abs(distance) <= run.cycle.slack) return run.accept.ratio_of_copy(value, residual) <= 1;
  return run.accept.ratio(value, residual) <= 1;
}

/// Steps of the cycle, until it shows that nothing is missing or that something is.
template <class T>
Stage run_cycle(Lanczos<T>& run, Ritz<T>& ritz, Beyond& beyond) {
  const auto& [running, limits, slack, hidden, saved] = run.cycle;
  while (!run.krylov.exhausted()) {
    const Stage stage = may_step(run);
    if (stage != Stage::reached) return stage;
    if (!run.krylov.can_expand()) restart_cycle(run, ritz);
    run.krylov.expand();
    ritz = ritz_of(run.krylov);
    // Ritz values of the complement are bounds from inside (Cauchy): one beyond a threshold proves that
    // something is missing, however rough it is.
    const double low = ritz.values.front(), high = ritz.values.back();
    beyond.low = low < limits.low - slack;
    beyond.high = high > limits.high + slack;
    if (beyond.low || beyond.high) return Stage::entered;
    look(run, run.plan.nev, {}, true);
    if (shows_nothing(run, limits.low, low - limits.low, low, ritz.residuals.front()) &&
        shows_nothing(run, limits.high, limits.high - high, high, ritz.residuals.back()))
      break;
  }
  return Stage::reached;
}

/// The Ritz vectors that lead a cycle beyond thresholds.
template <class T>
PlacedMatrix<T> vectors_beyond(const Lanczos<T>& run, const Ritz<T>& ritz, Beyond beyond) {
  const index_t take = std::min(run.plan.block_size, ritz.size());
  Ends ends{beyond.low ? take : 0, beyond.high ? take : 0};
  if (beyond.low && beyond.high) ends = {take / 2, take - take / 2};
  const auto s = columns_of(ritz.coefficients, indices_of(ends, ritz.size()));
  return combine<T>(run.krylov, s.cview());
}

/// Restarts with the pairs whose residuals meet the tolerance, wanted or not.
template <class T>
void keep_converged(Lanczos<T>& run) {
  const Ritz<T> ritz = ritz_of(run.krylov);
  std::vector<index_t> keep;
  for (index_t i = 0; i < ritz.size(); ++i)
    if (run.accept.ratio(ritz.values[at(i)], ritz.residuals[at(i)]) <= 1) keep.push_back(i);
  thick_restart(run.krylov, ritz, keep);
}

}  // namespace

template <class T>
Stage verify(Lanczos<T>& run) {
  KrylovFactorisation<T>& krylov = run.krylov;
  Ritz<T> ritz;
  if (krylov.size() > 0) ritz = ritz_of(krylov);  // taken up in the middle
  Beyond beyond;
  const Stage stage = run_cycle(run, ritz, beyond);
  WantedPairs<T>& pairs = run.pairs;
  if (ritz.size() > 0) {
    if (!(pairs.next_low < ritz.values.front())) pairs.next_low = ritz.values.front();
    if (!(pairs.next_high > ritz.values.back())) pairs.next_high = ritz.values.back();
  }
  PlacedMatrix<T> found(Matrix<T>(krylov.rows(), 0));
  if (stage == Stage::entered) found = vectors_beyond(run, ritz, beyond);

  // Back to the factorisation of the search; new directions join its residual block while places for restarts
  // are left; otherwise they replace it, which gives up couplings no larger than the tolerance.
  krylov.unlock(run.cycle.saved);
  if (stage == Stage::entered) {
    const index_t block = run.plan.block_size, columns = run.plan.max_basis + block;
    const auto is_full = [&] { return columns - 3 * (krylov.width() + found.cols()) < krylov.size() + block; };
    if (is_full()) keep_converged(run);
    if (is_full()) krylov.drop_residual(block);
    krylov.widen(found.cview());
  }
  run.cycle = {};
  ++run.record.verification_rounds;
  return stage;
}

#define TS_INSTANTIATE(T)                                    \
  template CountVerdict count_settles<T>(const Lanczos<T>&); \
  template Stage verify<T>(Lanczos<T>&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, begin_verification)

}  // namespace ts::inline v0::solvers
