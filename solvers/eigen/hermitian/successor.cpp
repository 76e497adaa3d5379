// What a run of Lanczos leaves to one that goes on in its place.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/solvers/eigen/hermitian/lanczos.hpp"
#include "tallskinny/solvers/eigen/numbers_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

bool Evidence::holds_for(std::span<const double> exact) const {
  constexpr double share = 1.0 / 16;
  if (how == Verification::none || exact.size() != values.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(exact[i] - values[i]) <= share * clearance)) return false;
  return true;
}

/// The eigenvalues of the wanted set, rising.
template <class T>
std::vector<double> Lanczos<T>::wanted_values() const {
  std::vector<double> values;
  for (const index_t i : indices_of(wanted_, ritz_.size()))
    values.push_back(accept_.transform.eigenvalue(ritz_.values[at(i)]));
  std::sort(values.begin(), values.end());
  return values;
}

/// How far the first eigenvalue outside of the set is from the set, in eigenvalues of A.
template <class T>
double Lanczos<T>::clearance() const {
  const auto limits = thresholds(ritz_.values, which_, wanted_);
  const auto& transform = accept_.transform;
  double least = std::numeric_limits<double>::infinity();
  if (wanted_.total() == basis_.rows()) return least;
  const auto visit = [&](double ritz, double limit) {
    if (!std::isfinite(limit)) return;
    const double distance = std::abs(transform.eigenvalue(ritz) - transform.eigenvalue(limit));
    least = std::isnan(distance) ? 0 : std::min(least, distance);
  };
  visit(next_ritz_low_, limits.low);
  visit(next_ritz_high_, limits.high);
  return least;
}

template <class T>
Evidence Lanczos<T>::evidence() const {
  constexpr double units = 64;  // of roundoff, that any gap worth the name is wide
  Evidence found{how_, wanted_values(), clearance()};
  if (!(found.clearance > units * roundoff_of<T> * accept_.norm)) found.how = Verification::none;
  return found;
}

template <class T>
void Lanczos<T>::follow(const Predecessor& before, index_t steps_per_search) {
  basis_.count_before(before.work);
  evidence_ = before.evidence;
  steps_per_search_ = steps_per_search;
  if (before.transform.kind != SpectralTransform::Kind::none) install(before.transform);
}

template <class T>
Predecessor Lanczos<T>::left_behind() const {
  Predecessor left{basis_.work(), accept_.transform};
  left.work.applications += norm_applications_;
  return left;
}

/// Where float64 goes on, float32 need not insist: have residuals stopped falling?
template <class T>
bool Lanczos<T>::stalls(const EigenResult<T>& record) const {
  constexpr index_t patience = 100;
  if (!is_narrow<T> || options_.precision != Precision::mixed || basis_.steps() < patience) return false;
  double before = inf, since = inf;
  index_t converged = 0;
  for (const HistoryEntry& entry : record.history)
    if (2 * entry.iteration <= basis_.steps())
      before = std::min(before, entry.worst), converged = std::max(converged, entry.converged);
    else
      since = std::min(since, entry.worst);
  return since > 0.5 * before && record.history.back().converged <= converged;
}

template <class T>
PlacedMatrix<T> Lanczos<T>::leading(index_t more) {
  using R = real_t<T>;
  const index_t m = ritz_.size();
  const auto chosen =
      indices_of(grown_ends(ritz_.values, which_, wanted_, std::min(more, m - wanted_.total())), m);
  Matrix<T> s(m, static_cast<index_t>(chosen.size()));
  for (index_t j = 0; j < s.cols(); ++j)
    for (index_t i = 0; i < m; ++i) s(i, j) = ritz_.coefficients(i, chosen[at(j)]);
  const auto divided = [&](Matrix<T> c) {
    for (index_t j = 0; j < c.cols(); ++j)
      for (index_t i = 0; i < c.rows(); ++i) c(i, j) /= static_cast<R>(ritz_.values[at(chosen[at(j)])]);
    return c;
  };
  if (accept_.transform.kind == SpectralTransform::Kind::inverse && s.cols() > 0) {
    // Purification by the inverse itself: a computed one is Hermitian only to u times its condition number,
    // and the recurrence below, which takes it for Hermitian, would bring that into the far directions.
    const auto x = basis_.combine(divided(std::move(s)).cview());
    return basis_.image(x.cview());
  }
  if (!accept_.transformed()) return basis_.combine(s.cview());
  // Purification: x = (nu V s + F B s) / nu
  const auto c = divided(ortho::product<T>(basis_.coupling().cview(), s.cview()));
  return basis_.combine(s.cview(), c.cview());
}

#define TS_INSTANTIATE(T)                                         \
  template void Lanczos<T>::follow(const Predecessor&, index_t);  \
  template Predecessor Lanczos<T>::left_behind() const;           \
  template Evidence Lanczos<T>::evidence() const;                 \
  template std::vector<double> Lanczos<T>::wanted_values() const; \
  template bool Lanczos<T>::stalls(const EigenResult<T>&) const;  \
  template PlacedMatrix<T> Lanczos<T>::leading(index_t);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
