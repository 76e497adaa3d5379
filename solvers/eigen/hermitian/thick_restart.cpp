// The search of block Lanczos with thick restart. Source: Wu and Simon 2000, "Thick-restart Lanczos method
// for large symmetric eigenvalue problems".
#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/hermitian/lanczos_detail.hpp"

namespace ts::inline v0::solvers {

template <class T>
double progress_of(const Lanczos<T>& run, const std::vector<double>& ratios) {
  double least = run.accept.bound(run.accept.norm);
  for (const double value : wanted_values(run.pairs, run.accept.transform))
    least = std::min(least, run.accept.bound(value));
  const double decades = std::log(run.accept.norm / least);
  double fraction = 0;
  for (const double ratio : ratios)
    fraction += std::clamp(1 - std::log(ratio) / decades, 0.0, 1.0) / static_cast<double>(ratios.size());
  return fraction;
}

template <class T>
void look(Lanczos<T>& run, index_t converged, std::vector<double> ratios, bool verifying) {
  const double fraction = progress_of(run, ratios);
  const double worst = ratios.empty() ? 0 : *std::max_element(ratios.begin(), ratios.end());
  const KrylovWork& done = run.krylov.work();
  note({done.steps, done.applications, converged, worst, verifying, std::move(ratios)}, fraction, run.options,
       run.plan.max_iterations, run.plan.nev, run.record.history);
}

namespace {

/// Keeps the wanted Ritz vectors and two fifths of the others, those next to them.
template <class T>
void restart(Lanczos<T>& run) {
  const WantedPairs<T>& pairs = run.pairs;
  const index_t m = pairs.ritz.size(), k = pairs.ends.total();
  index_t extra = std::min((m - k) * 2 / 5, keep_limit(run) - k);
  // On a device every width of the basis has kernels of its own: whole blocks keep these few.
  const index_t over = (k + extra) % run.plan.block_size;
  if (run.problem.a.space() == Space::device && over <= extra) extra -= over;
  const Ends kept = grown_ends(pairs.ritz.values, pairs.which, pairs.ends, extra);
  thick_restart(run.krylov, pairs.ritz, indices_of(kept, m));
  ++run.record.restarts;
}

/// Where float64 goes on, float32 need not insist: have residuals stopped falling?
template <class T>
bool stalls(const Lanczos<T>& run) {
  constexpr index_t patience = 100;
  const index_t steps = run.krylov.work().steps;
  if (!is_narrow<T> || run.options.precision != Precision::mixed || steps < patience) return false;
  const auto& history = run.record.history;
  double before = inf, since = inf;
  index_t converged = 0;
  for (const HistoryEntry& entry : history)
    if (2 * entry.iteration <= steps)
      before = std::min(before, entry.worst), converged = std::max(converged, entry.converged);
    else
      since = std::min(since, entry.worst);
  return since > 0.5 * before && history.back().converged <= converged;
}

/// Where LAPACK follows: will the budget not last, as decades have fallen in half of it?
template <class T>
bool is_hopeless(const Lanczos<T>& run) {
  const bool follows = run.options.method == Method::automatic && run.options.max_iterations == 0 &&
                       run.options.verify && run.plan.max_applications > 0;
  const index_t steps = run.krylov.work().steps, most = run.plan.max_iterations;
  return follows && 2 * steps >= most &&
         progress_of(run, run.record.history.back().ratios) * static_cast<double>(most) < static_cast<double>(steps);
}

/// Rayleigh-Ritz on the basis as it is, and a look at the wanted pairs; how many of them are converged.
template <class T>
index_t update_pairs(Lanczos<T>& run) {
  KrylovFactorisation<T>& krylov = run.krylov;
  WantedPairs<T>& pairs = run.pairs;
  pairs.ritz = ritz_of(krylov);  // H s = theta s
  const std::vector<double>& theta = pairs.ritz.values;
  if (!theta.empty()) krylov.note_norm(std::max(std::abs(theta.front()), std::abs(theta.back())));
  if (!run.accept.transformed()) run.accept.norm = krylov.norm();
  run.accept.largest = krylov.norm();
  pairs.ends = wanted_ends(theta, pairs.which, run.plan.nev);
  auto ratios = ratios_of(pairs, run.accept);  // ||B s|| against the tolerance
  const index_t converged = converged_in(ratios, pairs.ends);
  look(run, converged, std::move(ratios), false);
  return converged;
}

/// Block steps until the next look: half of those that the wanted pairs still need at the rate at which their residuals
/// fell between the last two looks, and as many at least as cost what a look costs.
template <class T>
index_t steps_to_look(const Lanczos<T>& run) {
  const index_t least = Ways::steps_per_look(run.krylov.size(), cost_of_step(run));
  const auto& history = run.record.history;
  if (history.size() < 2) return least;
  const HistoryEntry &before = history[history.size() - 2], &last = history.back();
  const double fallen = std::log(before.worst / last.worst);
  if (!(fallen > 0) || !std::isfinite(fallen)) return least;
  const double needed = std::log(last.worst) / fallen * static_cast<double>(last.iteration - before.iteration);
  return std::max(least, static_cast<index_t>(std::clamp(needed / 2, 0.0, 1e3)));
}

}  // namespace

template <class T>
void begin_search(Lanczos<T>& run) {
  const KrylovFactorisation<T>& krylov = run.krylov;
  if (!krylov.can_expand() && !krylov.exhausted()) restart(run);
  run.course.next_look = std::max(krylov.size(), run.plan.nev) + 2 * krylov.width();
}

template <class T>
Stage search(Lanczos<T>& run) {
  KrylovFactorisation<T>& krylov = run.krylov;
  LanczosCourse& course = run.course;
  const index_t first = krylov.work().steps;
  for (;;) {
    Stage stage = may_step(run);
    const bool too_long = course.steps_per_search > 0 && krylov.work().steps - first >= course.steps_per_search;
    if (stage == Stage::reached && too_long) stage = Stage::budget;
    const bool last = stage != Stage::reached || krylov.exhausted();
    if (!last && krylov.can_expand() && krylov.size() < course.next_look) {
      krylov.expand();  // A V = V H + F B, a block wider
      continue;
    }
    const bool found = update_pairs(run) == run.plan.nev;
    if (!last && mend_filter(run)) {
      begin_search(run);
      continue;
    }
    if (found || krylov.exhausted()) return Stage::reached;
    if (last) return stage;
    if (stalls(run) || is_hopeless(run)) return Stage::budget;
    if (!krylov.can_expand()) {
      if (leave_to_ends(run)) return Stage::budget;
      if (transform_operator(run)) {
        begin_search(run);
        continue;
      }
      restart(run);
    }
    course.next_look = krylov.size() + krylov.width() * steps_to_look(run);
  }
}

#define TS_INSTANTIATE(T)                                                 \
  template void look<T>(Lanczos<T>&, index_t, std::vector<double>, bool); \
  template Stage search<T>(Lanczos<T>&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, progress_of)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, begin_search)

}  // namespace ts::inline v0::solvers
