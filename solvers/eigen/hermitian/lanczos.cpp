#include "tallskinny/solvers/eigen/hermitian/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Before a refinement in float64, estimates in float32 may go on falling below rounding, to this fraction of
/// their bound. What is then left is rounding, spread over all directions, which float64 removes in few
/// steps, and little of the slow directions at the edge of the set.
constexpr double far_below_rounding = 1.0 / 256;

}  // namespace

template <class T>
Lanczos<T>::Lanczos(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                    const EigenPlan& plan, PlacedView<const T> initial, const Checkpointing<T>& checkpointing,
                    EigenResult<T>& record)
    : ctx_(ctx),
      problem_(problem),
      options_(options),
      plan_(plan),
      which_(options.which == Which::SM || (problem.inverse && options.which == Which::LM) ? Which::LM
                                                                                           : options.which),
      basis_(ctx, problem.inverse ? *problem.inverse : problem.a, plan.max_basis + plan.block_size,
             options.seed, true, options.spills),
      next_ritz_low_(nan),
      next_ritz_high_(nan),
      // As wide as leaves room for two block steps after a restart (keep_limit).
      initial_(initial.cols(0, std::min(initial.cols(), (plan.max_basis + plan.block_size - plan.nev) / 3))),
      checkpointing_(checkpointing),
      random_columns_(std::max<index_t>(0, plan.block_size - initial_.cols())) {
  accept_.convergence = options.convergence, accept_.rows = problem.a.rows(),
  accept_.roundoff = roundoff_of<T>;
  if (problem.inverse)
    accept_.transform.kind = SpectralTransform::Kind::inverse, accept_.transform.sigma = problem.shift;
  if (checkpointing.resume != nullptr) {
    StateArchive<T> archive(*checkpointing.resume);
    exchange(archive, record);
    resumed_ = true;
  }
}

/// What must agree for a stored state to be this run's.
template <class T>
std::vector<double> Lanczos<T>::identity() const {
  constexpr std::uint64_t low_half = 0xffffffffu;
  constexpr double format = 1;
  return {format,
          is_complex<T> ? 1.0 : 0.0,
          static_cast<double>(problem_.a.rows()),
          static_cast<double>(plan_.nev),
          static_cast<double>(plan_.block_size),
          static_cast<double>(plan_.max_basis),
          static_cast<double>(initial_.cols()),
          static_cast<double>(options_.which),
          static_cast<double>(options_.convergence),
          static_cast<double>(options_.method),
          options_.tol,
          static_cast<double>(options_.seed >> 32),
          static_cast<double>(options_.seed & low_half),
          problem_.inverse ? 1.0 : 0.0,
          problem_.inverse ? problem_.shift : 0.0};
}

template <class T>
void Lanczos<T>::exchange(StateArchive<T>& archive, EigenResult<T>& record) {
  auto stored = identity();
  archive(stored);
  if (stored != identity())
    throw Error(Errc::invalid_argument,
                "the stored state belongs to a run on another matrix or with other options");
  auto& t = accept_.transform;
  archive(t.kind, t.sigma, t.centre, t.half_width, t.degree);
  if (archive.loading() && !problem_.inverse && accept_.transformed()) install(SpectralTransform(t));
  archive(accept_.norm, accept_.largest, next_ritz_low_, next_ritz_high_, next_look_, search_steps_,
          search_applications_, refine_until_, norm_applications_, started_, transforms_, tol_factor_);
  archive(cycle_.running, cycle_.limits.low, cycle_.limits.high, cycle_.slack, cycle_.hidden);
  basis_.exchange(archive, cycle_.saved);
  archive(record.restarts, record.verification_rounds, record.history);
  basis_.exchange(archive);
}

template <class T>
void Lanczos<T>::store(EigenResult<T>& record) {
  SavedState<T> state;
  StateArchive<T> archive(state);
  exchange(archive, record);
  checkpointing_.write(state);
}

/// Between two block steps: may another follow? The state is stored when it is time to, or when the run is
/// about to end early; what is still tried then is no part of it.
template <class T>
typename Lanczos<T>::Stage Lanczos<T>::next_step(EigenResult<T>& record) {
  Stage stage = Stage::reached;
  if (options_.stop && options_.stop())
    stage = Stage::interrupted;
  else if (basis_.steps() >= plan_.max_iterations ||
           (plan_.max_applications > 0 && basis_.applications() >= plan_.max_applications))
    stage = Stage::budget;
  const bool ends = stage != Stage::reached;
  if (checkpointing_.write && !ended_ && (ends || (checkpointing_.due && checkpointing_.due())))
    store(record);
  ended_ = ended_ || ends;
  return stage;
}

template <class T>
void Lanczos<T>::look(EigenResult<T>& record, index_t converged, std::vector<double> ratios,
                      bool verifying) const {
  const double worst = ratios.empty() ? 0 : *std::max_element(ratios.begin(), ratios.end());
  record.history.push_back(
      {basis_.steps(), basis_.applications(), converged, worst, verifying, std::move(ratios)});
  if (!options_.progress) return;
  Progress p;
  p.phase = verifying ? "verify" : "search";
  p.iteration = basis_.steps(), p.max_iterations = plan_.max_iterations;
  p.operator_applications = basis_.applications();
  p.converged = converged, p.wanted = plan_.nev, p.worst = worst;
  const auto& last = record.history.back().ratios;
  const double decades = std::log(accept_.norm / accept_.bound(accept_.norm));
  for (const double ratio : last)
    p.fraction += std::clamp(1 - std::log(ratio) / decades, 0.0, 1.0) / static_cast<double>(last.size());
  options_.progress(p);
}

/// A restart leaves room for at least two block steps.
template <class T>
index_t Lanczos<T>::keep_limit() const {
  return plan_.max_basis + plan_.block_size - basis_.locked() - 3 * basis_.width();
}

template <class T>
void Lanczos<T>::restart_search() {
  const index_t m = ritz_.size(), k = wanted_.total();
  index_t extra = std::min((m - k) * 2 / 5, keep_limit() - k);
  // On a device every width of the basis has kernels of its own: whole blocks keep these few.
  const index_t over = (k + extra) % plan_.block_size;
  if (problem_.a.space() == Space::device && over <= extra) extra -= over;
  basis_.restart(ritz_, indices_of(grown_ends(ritz_.values, which_, wanted_, extra), m));
}

template <class T>
void Lanczos<T>::begin_search(EigenResult<T>& record) {
  if (!basis_.can_expand() && !basis_.exhausted()) {
    restart_search();
    ++record.restarts;
  }
  next_look_ = std::max(basis_.size(), plan_.nev) + 2 * basis_.width();
}

/// Expands and restarts until every wanted pair is converged; leaves ritz_ and wanted_ for the basis as it
/// is.
template <class T>
typename Lanczos<T>::Stage Lanczos<T>::search(EigenResult<T>& record) {
  const index_t k = plan_.nev, first = basis_.steps();
  for (;;) {
    Stage stage = next_step(record);
    const bool too_long = steps_per_search_ > 0 && basis_.steps() - first >= steps_per_search_;
    if (stage == Stage::reached && too_long) stage = Stage::budget;
    const bool last = stage != Stage::reached || basis_.exhausted();
    if (!last && basis_.can_expand() && basis_.size() < next_look_) {
      basis_.expand();
      continue;
    }
    ritz_ = basis_.ritz();
    if (ritz_.size() > 0)
      basis_.note_norm(std::max(std::abs(ritz_.values.front()), std::abs(ritz_.values.back())));
    if (!accept_.transformed()) accept_.norm = basis_.norm();
    accept_.largest = basis_.norm();
    wanted_ = wanted_ends(ritz_.values, which_, k);
    index_t converged = 0;
    std::vector<double> ratios;
    bool prefix = true;  // only a prefix of each end counts
    const auto visit = [&](index_t i) {
      ratios.push_back(accept_.ratio(ritz_.values[at(i)], ritz_.residuals[at(i)]));
      prefix = prefix && ratios.back() <= 1;
      converged += prefix ? 1 : 0;
    };
    for (index_t i = 0; i < wanted_.low; ++i) visit(i);
    prefix = true;
    for (index_t i = 0; i < wanted_.high; ++i) visit(ritz_.size() - 1 - i);
    look(record, converged, std::move(ratios), false);
    if (converged == k || basis_.exhausted()) return Stage::reached;
    if (last) return stage;
    if (stalls(record)) return Stage::budget;
    if (!basis_.can_expand()) {
      if (transform_operator()) {
        begin_search(record);
        continue;
      }
      restart_search();
      ++record.restarts;
    }
    next_look_ = basis_.size() + std::max(basis_.width(), (plan_.max_basis - basis_.size()) / 2);
  }
}

/// What is known of an eigenvalue outside of the set; NaN for values that the filter made indistinct.
template <class T>
double Lanczos<T>::outside(double ritz) const {
  const auto kind = accept_.transform.kind;
  if ((kind == SpectralTransform::Kind::inverse && ritz == 0) ||
      (kind == SpectralTransform::Kind::chebyshev && !(ritz > 1)))
    return nan;
  return accept_.transform.eigenvalue(ritz);
}

template <class T>
double Lanczos<T>::next_outside() const {
  const auto limits = thresholds(ritz_.values, which_, wanted_);
  double best = nan, distance = std::numeric_limits<double>::infinity();
  const auto visit = [&](double ritz, double limit) {
    if (std::isfinite(limit) && std::abs(ritz - limit) < distance)
      distance = std::abs(ritz - limit), best = outside(ritz);
  };
  visit(next_ritz_low_, limits.low);
  visit(next_ritz_high_, limits.high);
  return best;
}

/// The search goes on for the sake of completeness while that promises to take a few steps only: the rate at
/// which residuals have fallen so far tells how many.
template <class T>
bool Lanczos<T>::search_may_settle(double shortfall) const {
  constexpr double share = 0.2;
  if (basis_.steps() >= refine_until_) return false;
  const double smallest = accept_.bound(accept_.norm) / accept_.norm;
  return std::log(shortfall) <= share * -std::log(smallest);
}

/// Search and verification in turns.
template <class T>
void Lanczos<T>::iterate(EigenResult<T>& record, LanczosOutcome<T>& out) {
  for (;;) {
    if (cycle_.running) {  // taken up in the middle
      if (finish_cycle(record, out)) return;
      continue;
    }
    const Stage stage = search(record);
    if (stage != Stage::reached) {
      out.stop = stage == Stage::interrupted ? StopReason::interrupted : StopReason::max_iterations;
      return;
    }
    out.stop = StopReason::converged;
    if (search_steps_ == 0) {
      search_steps_ = basis_.steps(), search_applications_ = basis_.applications();
      refine_until_ = search_steps_ + search_steps_ / 5 + 2;
    }
    if (wanted_.low < ritz_.size() - wanted_.high) {
      next_ritz_low_ = ritz_.values[at(wanted_.low)];
      next_ritz_high_ = ritz_.values[at(ritz_.size() - 1 - wanted_.high)];
    }
    if (basis_.exhausted()) {
      out.verification = Verification::all_computed;
      return;
    }
    if (!options_.verify) return;
    if (count_settles()) {
      out.verification = Verification::inertia;
      return;
    }
    // (Where no block step may follow a search would end where it began.)
    const bool may_go_on =
        !ended_ && basis_.steps() < refine_until_ && record.history.back().worst > far_below_rounding;
    if (is_narrow<T> && options_.precision == Precision::mixed && may_go_on) {
      search_applications_ = basis_.applications();
      begin_search(record);
      continue;
    }
    if (evidence_.holds_for(wanted_values())) {
      out.verification = evidence_.how;
      return;
    }
    const double shortfall = search_shortfall();
    if (shortfall <= 1) {
      out.verification = Verification::start_block;
      return;
    }
    if (!ended_ && search_may_settle(shortfall)) {
      begin_search(record);
      continue;
    }
    // The Ritz vectors wanted are still coefficients of the basis; verification restarts it.
    begin_verification();
    if (finish_cycle(record, out)) return;
  }
}

/// Runs the cycle to its end; true when that ends the run.
template <class T>
bool Lanczos<T>::finish_cycle(EigenResult<T>& record, LanczosOutcome<T>& out) {
  const Stage stage = verify(record);
  ritz_ = basis_.ritz();
  wanted_ = wanted_ends(ritz_.values, which_, plan_.nev);
  out.stop = StopReason::converged;
  if (stage == Stage::entered) {
    search_steps_ = 0;
    begin_search(record);
    return false;
  }
  if (stage == Stage::reached)
    out.verification = Verification::random_block;
  else
    out.stop = stage == Stage::interrupted ? StopReason::interrupted : StopReason::not_verified;
  return true;
}

template <class T>
LanczosOutcome<T> Lanczos<T>::run(EigenResult<T>& record) {
  accept_.tol = options_.tol * tol_factor_;
  if (!resumed_) {
    search_steps_ = 0;
    if (!started_) {
      if (accept_.transformed())
        accept_.norm = estimate_norm(ctx_, problem_.a, options_.seed, norm_applications_);
      basis_.start(initial_, plan_.block_size);
      started_ = true;
    }
    begin_search(record);
  }
  resumed_ = false;
  LanczosOutcome<T> out;
  iterate(record, out);
  record.iterations = basis_.steps();
  record.dead_directions = basis_.dead();
  if (search_steps_ > 0) record.verification_applications = basis_.applications() - search_applications_;
  record.filter_degree =
      accept_.transform.kind == SpectralTransform::Kind::chebyshev ? accept_.transform.degree : 0;
  if (accept_.transform.kind == SpectralTransform::Kind::inverse) record.shift = accept_.transform.sigma;
  record.seconds = basis_.seconds();
  record.norm = accept_.norm;
  how_ = out.verification;

  out.vectors = leading(0);
  record.operator_applications = norm_applications_ + basis_.applications();
  out.next_value = next_outside();
  return out;
}

#define TS_INSTANTIATE(T) template class Lanczos<T>;
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
