// Lanczos<T>: is the set complete?
#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/solvers/eigen/hermitian/lanczos.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/eigen/transform/inertia.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// b random columns miss an eigenvector that leads the complement with a probability of about
/// (residual / distance)^b: the quotient at which that is 1e-10.
double trust_factor(index_t b) {
  return std::pow(1e-10, 1.0 / static_cast<double>(b));
}

}  // namespace

/// With a factorisation at hand: is the number of eigenvalues beyond the last wanted value what was found?
template <class T>
bool Lanczos<T>::count_settles() const {
  if (!problem_.count_below) return false;
  FoundSet found;
  found.n = basis_.rows();
  found.norm = accept_.norm;
  const index_t m = ritz_.size();
  for (const index_t i : indices_of(wanted_, m)) {
    const double ritz = ritz_.values[at(i)];
    found.values.push_back(accept_.transform.eigenvalue(ritz));
    found.tolerance = std::max(found.tolerance, accept_.bound(found.values.back()));
    found.errors.push_back(accept_.transform.residual_of_a(ritz, ritz_.residuals[at(i)], accept_.largest));
  }
  if (wanted_.low < m - wanted_.high) {
    found.next_low = outside(ritz_.values[at(wanted_.low)]);
    found.next_high = outside(ritz_.values[at(m - 1 - wanted_.high)]);
  }
  if (problem_.inverse) return which_ == Which::LM && count_near(found, problem_.shift, problem_.count_below);
  if (which_ != options_.which && which_ != Which::LM) {  // the transform turned the spectrum around
    std::reverse(found.values.begin(), found.values.end());
    std::reverse(found.errors.begin(), found.errors.end());
    std::swap(found.next_low, found.next_high);
    return count_ends(found, options_.which, {wanted_.high, wanted_.low}, problem_.count_below);
  }
  return count_ends(found, options_.which, wanted_, problem_.count_below);
}

/// How far the value of Ritz pair i may be off: r, or r^2 / gap (Kato and Temple).
template <class T>
double Lanczos<T>::deviation(index_t i) const {
  const double residual = ritz_.residuals[at(i)], value = ritz_.values[at(i)];
  double gap = inf;
  for (const double other : ritz_.values) {
    const double d = std::abs(other - value);
    if (d > residual) gap = std::min(gap, d);
  }
  return std::min(residual, 10 * residual * residual / gap);
}

/// Ritz values nearer to the threshold than this are copies of the threshold value.
template <class T>
double Lanczos<T>::slack() const {
  double width = 100 * basis_.rounding();
  if (wanted_.low > 0) width = std::max(width, deviation(wanted_.low - 1));
  if (wanted_.high > 0) width = std::max(width, deviation(ritz_.size() - wanted_.high));
  return width;
}

/// The search itself as evidence. Its space grew from R random columns by polynomials that are largest at the
/// wanted end. An eigenvector that it misses beyond the first Ritz value outside of the set, mu, would have
/// to be nearly orthogonal to all R columns; a missing copy of a value that was found c times, to the R - c
/// columns that these copies leave. Both are as unlikely as the residual of mu is small against its distance,
/// to that power. Returns that residual as a multiple of what would do (1e-10); infinite where no residual
/// would.
template <class T>
double Lanczos<T>::search_shortfall() const {
  const index_t m = ritz_.size();
  if (random_columns_ <= 0 || wanted_.low >= m - wanted_.high) return inf;
  const auto limits = thresholds(ritz_.values, which_, wanted_);
  const double copy = slack();
  double shortfall = 0;
  const auto visit = [&](double limit, index_t out, index_t first, index_t last) {
    if (!std::isfinite(limit)) return;
    const double mu = ritz_.values[at(out)], residual = ritz_.residuals[at(out)];
    const double distance = std::abs(mu - limit);
    shortfall = std::max(shortfall, distance > copy ? residual / (trust_factor(random_columns_) * distance)
                                                    : accept_.ratio(mu, residual));
    for (index_t i = first; i < last; ++i) {
      const double value = ritz_.values[at(i)], depth = std::abs(mu - value);
      if (std::abs(value - limit) <= copy) continue;  // more copies of the threshold are not wanted
      // Polynomials that resolve mu hardly tell values apart that are this close, nor does the tolerance.
      const double close = std::max(0.02 * depth, copy);
      index_t copies = 0;
      for (index_t j = first; j < last; ++j) copies += std::abs(ritz_.values[at(j)] - value) <= close ? 1 : 0;
      const double required = copies < random_columns_ ? trust_factor(random_columns_ - copies) * depth : 0;
      shortfall = required > 0 ? std::max(shortfall, residual / required) : inf;
      if (shortfall == inf) return;
    }
  };
  visit(limits.low, wanted_.low, 0, wanted_.low);
  visit(limits.high, m - 1 - wanted_.high, m - wanted_.high, m);
  return shortfall;
}

/// Locks everything found and starts a cycle from a fresh random block orthogonal to it.
template <class T>
void Lanczos<T>::begin_verification() {
  const index_t m = ritz_.size();
  const auto limits = thresholds(ritz_.values, which_, wanted_);
  const double slack = this->slack();

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

  basis_.restart(ritz_, keep);
  cycle_ = {true, limits, slack, hidden, basis_.save()};
  basis_.lock_and_refresh(plan_.block_size);
}

/// The cycle that was begun. `reached`: nothing new can be in the wanted set. `entered`: something new is,
/// and the search goes on with it.
template <class T>
typename Lanczos<T>::Stage Lanczos<T>::verify(EigenResult<T>& record) {
  const Thresholds limits = cycle_.limits;
  const double slack = cycle_.slack, hidden = cycle_.hidden;
  const index_t b = plan_.block_size;
  const double trust = trust_factor(b);

  Ritz<T> ritz;
  if (basis_.size() > 0) ritz = basis_.ritz();  // taken up in the middle
  Stage stage = Stage::reached;
  bool low_entered = false, high_entered = false;
  while (!basis_.exhausted()) {
    stage = next_step(record);
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
    const auto is_outside = [&](double distance, double value, double residual) {
      if (residual <= trust * distance && hidden <= 0.5 * distance) return true;
      return accept_.ratio(value, residual) <= 1;  // a copy of the threshold value, left out by the cut
    };
    const bool low_done =
        !std::isfinite(limits.low) ||
        is_outside(ritz.values.front() - limits.low, ritz.values.front(), ritz.residuals.front());
    const bool high_done =
        !std::isfinite(limits.high) ||
        is_outside(limits.high - ritz.values.back(), ritz.values.back(), ritz.residuals.back());
    look(record, plan_.nev, {}, true);
    if (low_done && high_done) break;
  }
  if (ritz.size() > 0) {
    if (!(next_ritz_low_ < ritz.values.front())) next_ritz_low_ = ritz.values.front();
    if (!(next_ritz_high_ > ritz.values.back())) next_ritz_high_ = ritz.values.back();
  }

  // Back to the decomposition of the search; new directions join its residual block.
  PlacedMatrix<T> found(Matrix<T>(basis_.rows(), 0));
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
  basis_.unlock(cycle_.saved);
  if (stage == Stage::entered) {
    const auto& saved = cycle_.saved;
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
  cycle_ = {};
  ++record.verification_rounds;
  return stage;
}

#define TS_INSTANTIATE(T)                               \
  template bool Lanczos<T>::count_settles() const;      \
  template double Lanczos<T>::search_shortfall() const; \
  template void Lanczos<T>::begin_verification();       \
  template Lanczos<T>::Stage Lanczos<T>::verify(EigenResult<T>&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
