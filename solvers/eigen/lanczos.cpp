#include "tallskinny/solvers/eigen/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/solvers/eigen/inertia.hpp"
#include "tallskinny/solvers/ortho/skeleton.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::size_t at(index_t i) {
  return static_cast<std::size_t>(i);
}

/// Ascending indices of the `ends` of m values.
std::vector<index_t> indices_of(Ends ends, index_t m) {
  std::vector<index_t> keep;
  for (index_t i = 0; i < ends.low; ++i) keep.push_back(i);
  for (index_t i = m - ends.high; i < m; ++i) keep.push_back(i);
  return keep;
}

/// The largest singular-value estimate that ten block steps of width 2 give.
template <class T>
double estimate_norm(const Context& ctx, const Operator<T>& a, std::uint64_t seed, index_t& applications) {
  const index_t n = a.rows();
  KrylovBasis<T> basis(ctx, a, std::min<index_t>(n, 24), seed ^ 0x9e3779b97f4a7c15u);
  basis.start(HostView<const T>{}, 2);
  while (basis.can_expand()) basis.expand();
  applications += basis.applications();
  if (basis.size() == 0) return basis.norm();
  const auto ritz = basis.ritz();
  return std::max({basis.norm(), std::abs(ritz.values.front()), std::abs(ritz.values.back())});
}

/// A fresh random block of b columns misses an eigenvector that leads the complement with a probability of
/// about (residual / distance)^b: the residual at which that is 1e-10.
double trust_factor(index_t b) {
  return std::pow(1e-10, 1.0 / static_cast<double>(std::max<index_t>(b, 1)));
}

}  // namespace

double Acceptance::rounding() const noexcept {
  // Block Gram-Schmidt drops directions below dead_factor(n) u ||A||: residuals are not known any better.
  return 2 * ortho::dead_factor(rows) * unit_roundoff * norm;
}

double Acceptance::bound(double lambda) const noexcept {
  double scale = 1;
  if (convergence == Convergence::norm) scale = norm;
  if (convergence == Convergence::rel) scale = std::abs(lambda);
  return std::max(tol * scale, rounding());
}

double Acceptance::ratio(double ritz, double residual) const noexcept {
  if (residual == 0) return 0;
  if (!inverse) return residual / bound(ritz);
  if (ritz == 0) return std::numeric_limits<double>::infinity();
  // A purified Ritz vector x = (nu V s + F B s) / |nu| has the residual ||B s|| / nu^2 as a vector of A; the
  // second condition keeps purified vectors independent.
  return std::max(residual / (ritz * ritz) / bound(eigenvalue(ritz)), residual / std::abs(ritz) / 1e-4);
}

template <class T>
Lanczos<T>::Lanczos(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                    const EigenPlan& plan)
    : ctx_(ctx),
      problem_(problem),
      options_(options),
      plan_(plan),
      which_(options.which == Which::SM || (problem.inverse && options.which == Which::LM) ? Which::LM
                                                                                           : options.which),
      basis_(ctx, problem.inverse ? *problem.inverse : problem.a, plan.max_basis + plan.block_size,
             options.seed),
      next_ritz_low_(nan),
      next_ritz_high_(nan) {
  accept_.convergence = options.convergence, accept_.rows = problem.a.rows();
  accept_.inverse = problem.inverse.has_value();
  accept_.sigma = problem.shift;
}

template <class T>
typename Lanczos<T>::Stage Lanczos<T>::may_go_on() const {
  if (options_.stop && options_.stop()) return Stage::interrupted;
  return basis_.steps() >= plan_.max_iterations ? Stage::budget : Stage::reached;
}

template <class T>
void Lanczos<T>::look(EigenResult<T>& record, index_t converged, double worst, bool verifying) const {
  record.history.push_back({basis_.steps(), basis_.applications(), converged, worst, verifying});
  if (!options_.progress) return;
  Progress p;
  p.phase = verifying ? "verify" : "search";
  p.iteration = basis_.steps(), p.max_iterations = plan_.max_iterations;
  p.operator_applications = basis_.applications();
  p.converged = converged, p.wanted = plan_.nev, p.worst = worst;
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
  const index_t extra = std::min((m - k) * 2 / 5, keep_limit() - k);
  basis_.restart(ritz_, indices_of(grown_ends(ritz_.values, which_, wanted_, extra), m));
}

/// Expands and restarts until every wanted pair is converged; leaves ritz_ and wanted_ for the basis as it
/// is.
template <class T>
typename Lanczos<T>::Stage Lanczos<T>::search(EigenResult<T>& record) {
  const index_t k = plan_.nev;
  index_t next_look = std::max(basis_.size(), k) + 2 * basis_.width();
  for (;;) {
    const Stage stage = may_go_on();
    const bool last = stage != Stage::reached || basis_.exhausted();
    if (!last && basis_.can_expand() && basis_.size() < next_look) {
      basis_.expand();
      continue;
    }
    ritz_ = basis_.ritz();
    if (ritz_.size() > 0)
      basis_.note_norm(std::max(std::abs(ritz_.values.front()), std::abs(ritz_.values.back())));
    if (!accept_.inverse) accept_.norm = basis_.norm();
    wanted_ = wanted_ends(ritz_.values, which_, k);
    index_t converged = 0;
    double worst = 0;
    bool prefix = true;  // only a prefix of each end counts
    const auto visit = [&](index_t i) {
      const double ratio = accept_.ratio(ritz_.values[at(i)], ritz_.residuals[at(i)]);
      worst = std::max(worst, ratio);
      prefix = prefix && ratio <= 1;
      converged += prefix ? 1 : 0;
    };
    for (index_t i = 0; i < wanted_.low; ++i) visit(i);
    prefix = true;
    for (index_t i = 0; i < wanted_.high; ++i) visit(ritz_.size() - 1 - i);
    look(record, converged, worst, false);
    if (converged == k || basis_.exhausted()) return Stage::reached;
    if (last) return stage;
    if (basis_.can_expand()) {
      next_look = basis_.size() + std::max(basis_.width(), (plan_.max_basis - basis_.size()) / 2);
    } else {
      restart_search();
      ++record.restarts;
      next_look = basis_.size() + std::max(basis_.width(), (plan_.max_basis - basis_.size()) / 2);
    }
  }
}

/// With a factorisation at hand: is the number of eigenvalues beyond the last wanted value what was found?
template <class T>
bool Lanczos<T>::count_settles() const {
  if (!problem_.count_below) return false;
  FoundSet found;
  found.n = basis_.rows();
  found.norm = accept_.norm;
  const index_t m = ritz_.size();
  for (const index_t i : indices_of(wanted_, m)) {
    const double ritz = ritz_.values[at(i)], residual = ritz_.residuals[at(i)];
    found.values.push_back(accept_.eigenvalue(ritz));
    found.errors.push_back(accept_.inverse ? residual / (ritz * ritz) : residual);
  }
  if (wanted_.low < m - wanted_.high) {
    found.next_low = accept_.eigenvalue(ritz_.values[at(wanted_.low)]);
    found.next_high = accept_.eigenvalue(ritz_.values[at(m - 1 - wanted_.high)]);
  }
  if (accept_.inverse) return which_ == Which::LM && count_near(found, problem_.shift, problem_.count_below);
  return count_ends(found, which_, wanted_, problem_.count_below);
}

/// One cycle from a fresh random block orthogonal to everything found. `reached`: nothing new can be in the
/// wanted set. `entered`: something new is, and the search goes on with it.
template <class T>
typename Lanczos<T>::Stage Lanczos<T>::verify(EigenResult<T>& record) {
  const index_t m = ritz_.size();
  const auto limits = thresholds(ritz_.values, which_, wanted_);
  const auto deviation = [&](index_t i) {  // how far the threshold value itself may be off
    const double residual = ritz_.residuals[at(i)], value = ritz_.values[at(i)];
    double gap = std::numeric_limits<double>::infinity();
    for (index_t j = 0; j < m; ++j) {
      const double d = std::abs(ritz_.values[at(j)] - value);
      if (d > residual) gap = std::min(gap, d);
    }
    return std::min(residual, 10 * residual * residual / gap);
  };
  double slack = 100 * unit_roundoff * basis_.norm();
  if (wanted_.low > 0) slack = std::max(slack, deviation(wanted_.low - 1));
  if (wanted_.high > 0) slack = std::max(slack, deviation(m - wanted_.high));

  // Deflate the wanted pairs and those others whose residual r is small against their distance d from the
  // threshold: an eigenvalue they hide can reach the threshold only by r^2 / d (Schur complement of A - t I).
  const index_t room = plan_.max_basis + plan_.block_size - 6 * plan_.block_size;
  std::vector<index_t> keep = indices_of(wanted_, m);
  double hidden = 0;
  std::vector<index_t> extra;
  for (index_t low = wanted_.low, high = m - 1 - wanted_.high; low <= high;) {
    const double distance_low = ritz_.values[at(low)] - limits.low;
    const double distance_high = limits.high - ritz_.values[at(high)];
    const index_t i = distance_low < distance_high ? low++ : high--;
    const double d = std::min(distance_low, distance_high), r = ritz_.residuals[at(i)];
    const bool good = accept_.ratio(ritz_.values[at(i)], r) <= 1 || r <= 0.1 * d;
    if (!good || static_cast<index_t>(keep.size() + extra.size()) >= room) break;
    if (d > slack) hidden += r * r / d;
    extra.push_back(i);
  }
  keep.insert(keep.end(), extra.begin(), extra.end());
  std::sort(keep.begin(), keep.end());
  next_ritz_low_ = next_ritz_high_ = nan;
  if (wanted_.low < m - wanted_.high) {
    next_ritz_low_ = ritz_.values[at(wanted_.low)];
    next_ritz_high_ = ritz_.values[at(m - 1 - wanted_.high)];
  }

  basis_.restart(ritz_, keep);
  const auto saved = basis_.save();
  const index_t b = plan_.block_size;
  basis_.lock_and_refresh(b);
  ++record.verification_rounds;
  const double trust = trust_factor(b);

  Ritz<T> ritz;
  Stage stage = Stage::reached;
  bool low_entered = false, high_entered = false;
  while (!basis_.exhausted()) {
    stage = may_go_on();
    if (stage != Stage::reached) break;
    if (!basis_.can_expand()) {
      const index_t active = ritz.size();
      const index_t half = std::max<index_t>(1, std::min(active / 2, keep_limit()));
      Ends ends{0, 0};
      if (std::isfinite(limits.low)) ends.low = half;
      if (std::isfinite(limits.high)) ends.high = half;
      if (ends.low > 0 && ends.high > 0) ends = {half / 2, half - half / 2};
      basis_.restart(ritz, indices_of(ends, active));
      ++record.restarts;
    }
    basis_.expand();
    ritz = basis_.ritz();
    // Ritz values of the complement are bounds from inside (Cauchy): one beyond a threshold proves that
    // something is missing, however rough it is.
    low_entered = ritz.values.front() < limits.low - slack;
    high_entered = ritz.values.back() > limits.high + slack;
    if (low_entered || high_entered) break;
    const auto outside = [&](double distance, double value, double residual) {
      if (residual <= trust * distance && hidden <= 0.5 * distance) return true;
      return accept_.ratio(value, residual) <= 1;  // a copy of the threshold value, left out by the cut
    };
    const bool low_done = !std::isfinite(limits.low) || outside(ritz.values.front() - limits.low,
                                                                ritz.values.front(), ritz.residuals.front());
    const bool high_done = !std::isfinite(limits.high) || outside(limits.high - ritz.values.back(),
                                                                  ritz.values.back(), ritz.residuals.back());
    look(record, plan_.nev, 0, true);
    if (low_done && high_done) break;
  }
  if (ritz.size() > 0) {
    if (!(next_ritz_low_ < ritz.values.front())) next_ritz_low_ = ritz.values.front();
    if (!(next_ritz_high_ > ritz.values.back())) next_ritz_high_ = ritz.values.back();
  }

  // Back to the decomposition of the search; new directions join its residual block.
  Matrix<T> found(basis_.rows(), 0);
  if (low_entered || high_entered) {
    stage = Stage::entered;
    const index_t active = ritz.size(), take = std::min(b, active);
    Ends ends{low_entered ? take : 0, high_entered ? take : 0};
    if (low_entered && high_entered) ends = {take / 2, take - take / 2};
    const auto columns = indices_of(ends, active);
    Matrix<T> s(active, static_cast<index_t>(columns.size()));
    for (index_t j = 0; j < s.cols(); ++j)
      for (index_t i = 0; i < active; ++i) s(i, j) = ritz.coefficients(i, columns[at(j)]);
    found = basis_.combine(s.cview());
  }
  basis_.unlock(saved);
  if (stage == Stage::entered) {
    // The residual block grows by the new directions while room for restarts is left; otherwise it is
    // replaced by them, which gives up couplings no larger than the tolerance.
    const index_t columns = plan_.max_basis + plan_.block_size;
    if (columns - 3 * (saved.f.cols() + found.cols()) < basis_.size() + plan_.block_size) {
      typename KrylovBasis<T>::Saved bare{Matrix<T>(basis_.rows(), 0), Matrix<T>::copy_of(saved.h.cview()),
                                          Matrix<T>(0, saved.h.cols()), b};
      basis_.lock_and_refresh(0);
      basis_.unlock(bare);
    }
    basis_.widen(found.cview());
  }
  return stage;
}

template <class T>
double Lanczos<T>::next_outside() const {
  const auto limits = thresholds(ritz_.values, which_, wanted_);
  double best = nan, distance = std::numeric_limits<double>::infinity();
  const auto visit = [&](double ritz, double limit) {
    if (std::isfinite(limit) && std::abs(ritz - limit) < distance && (!accept_.inverse || ritz != 0))
      distance = std::abs(ritz - limit), best = accept_.eigenvalue(ritz);
  };
  visit(next_ritz_low_, limits.low);
  visit(next_ritz_high_, limits.high);
  return best;
}

template <class T>
LanczosOutcome<T> Lanczos<T>::run(HostView<const T> initial, double tol_factor, EigenResult<T>& record) {
  accept_.tol = options_.tol * tol_factor;
  if (!started_) {
    if (accept_.inverse)
      accept_.norm = estimate_norm(ctx_, problem_.a, options_.seed, record.operator_applications);
    basis_.start(initial, plan_.block_size);
    started_ = true;
  }
  LanczosOutcome<T> out;
  Stage stage = Stage::reached;
  for (;;) {
    stage = search(record);
    if (stage != Stage::reached) {
      out.stop = stage == Stage::interrupted ? StopReason::interrupted : StopReason::max_iterations;
      break;
    }
    out.stop = StopReason::converged;
    if (basis_.exhausted()) {
      out.verification = Verification::all_computed;
      break;
    }
    if (count_settles()) {
      out.verification = Verification::inertia;
      if (wanted_.low < ritz_.size() - wanted_.high) {
        next_ritz_low_ = ritz_.values[at(wanted_.low)];
        next_ritz_high_ = ritz_.values[at(ritz_.size() - 1 - wanted_.high)];
      }
      break;
    }
    // The Ritz vectors wanted are still coefficients of the basis; verification restarts it.
    stage = verify(record);
    ritz_ = basis_.ritz();
    wanted_ = wanted_ends(ritz_.values, which_, plan_.nev);
    if (stage == Stage::reached) {
      out.verification = Verification::random_block;
      break;
    }
    if (stage == Stage::budget || stage == Stage::interrupted) {
      out.stop = stage == Stage::interrupted ? StopReason::interrupted : StopReason::not_verified;
      break;
    }
  }
  record.iterations = basis_.steps();
  record.dead_directions = basis_.dead();
  record.operator_applications += basis_.applications();
  record.norm = accept_.norm;

  const index_t m = ritz_.size();
  const auto chosen = indices_of(wanted_, m);
  Matrix<T> s(m, static_cast<index_t>(chosen.size()));
  for (index_t j = 0; j < s.cols(); ++j)
    for (index_t i = 0; i < m; ++i) s(i, j) = ritz_.coefficients(i, chosen[at(j)]);
  if (accept_.inverse) {  // purification: x = nu V s + F B s
    const auto c = ortho::product<T>(basis_.coupling().cview(), s.cview());
    Matrix<T> scaled_c(c.rows(), c.cols());
    for (index_t j = 0; j < c.cols(); ++j)
      for (index_t i = 0; i < c.rows(); ++i) scaled_c(i, j) = c(i, j) / ritz_.values[at(chosen[at(j)])];
    out.vectors = basis_.combine(s.cview(), scaled_c.cview());
  } else {
    out.vectors = basis_.combine(s.cview());
  }
  out.next_value = next_outside();
  return out;
}

#define TS_INSTANTIATE(T) template class Lanczos<T>;
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
