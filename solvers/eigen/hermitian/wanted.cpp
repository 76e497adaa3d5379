#include "tallskinny/solvers/eigen/hermitian/wanted.hpp"

#include <algorithm>

namespace ts::inline v0::solvers {

template <class T>
std::vector<double> ratios_of(const WantedPairs<T>& pairs, const Acceptance& accept) {
  const Ritz<T>& ritz = pairs.ritz;
  std::vector<double> ratios;
  const auto visit = [&](index_t i) { ratios.push_back(accept.ratio(ritz.values[at(i)], ritz.residuals[at(i)])); };
  for (index_t i = 0; i < pairs.ends.low; ++i) visit(i);
  for (index_t i = 0; i < pairs.ends.high; ++i) visit(ritz.size() - 1 - i);
  return ratios;
}

index_t converged_in(const std::vector<double>& ratios, Ends ends) {
  const auto prefix = [&](index_t first, index_t count) {
    index_t converged = 0;
    while (converged < count && ratios[at(first + converged)] <= 1) ++converged;
    return converged;
  };
  return prefix(0, ends.low) + prefix(ends.low, ends.high);
}

template <class T>
std::vector<double> wanted_values(const WantedPairs<T>& pairs, const SpectralTransform& transform) {
  std::vector<double> values;
  for (const index_t i : pairs.indices()) values.push_back(transform.eigenvalue(pairs.ritz.values[at(i)]));
  std::sort(values.begin(), values.end());
  return values;
}

template <class T>
double clearance_of(const WantedPairs<T>& pairs, const SpectralTransform& transform, index_t rows) {
  double least = inf;
  if (pairs.ends.total() == rows) return least;
  at_open_ends(pairs, [&](double next, double limit) {
    const double distance = std::abs(transform.eigenvalue(next) - transform.eigenvalue(limit));
    least = std::isnan(distance) ? 0 : std::min(least, distance);
  });
  return least;
}

double outside_value(const SpectralTransform& transform, double ritz) {
  using Kind = SpectralTransform::Kind;
  if ((transform.kind == Kind::inverse && ritz == 0) || (transform.kind == Kind::chebyshev && !(ritz > 1))) return nan;
  return transform.eigenvalue(ritz);
}

template <class T>
double next_outside(const WantedPairs<T>& pairs, const SpectralTransform& transform) {
  double best = nan, distance = inf;
  at_open_ends(pairs, [&](double next, double limit) {
    if (std::abs(next - limit) < distance) distance = std::abs(next - limit), best = outside_value(transform, next);
  });
  return best;
}

namespace {

/// How far the value of Ritz pair i may be off: r, or r^2 / gap (Kato and Temple).
template <class T>
double deviation(const Ritz<T>& ritz, index_t i) {
  const double residual = ritz.residuals[at(i)], value = ritz.values[at(i)];
  double gap = inf;
  for (const double other : ritz.values) {
    const double d = std::abs(other - value);
    if (d > residual) gap = std::min(gap, d);
  }
  return std::min(residual, 10 * residual * residual / gap);
}

}  // namespace

template <class T>
double slack_of(const WantedPairs<T>& pairs, double rounding) {
  double width = 100 * rounding;
  if (pairs.ends.low > 0) width = std::max(width, deviation(pairs.ritz, pairs.ends.low - 1));
  if (pairs.ends.high > 0) width = std::max(width, deviation(pairs.ritz, pairs.ritz.size() - pairs.ends.high));
  return width;
}

template <class T>
double search_shortfall(const WantedPairs<T>& pairs, const Acceptance& accept, index_t random_columns, double slack) {
  const Ritz<T>& ritz = pairs.ritz;
  const index_t m = ritz.size();
  if (random_columns <= 0 || !pairs.has_outside()) return inf;
  double shortfall = 0;
  const auto visit = [&](double limit, index_t out, index_t first, index_t last) {
    if (!std::isfinite(limit)) return;
    const double mu = ritz.values[at(out)], residual = ritz.residuals[at(out)];
    const double distance = std::abs(mu - limit);
    shortfall = std::max(shortfall, distance > slack ? residual / (trust_factor(random_columns) * distance)
                                                     : accept.ratio_of_copy(mu, residual));
    for (index_t i = first; i < last; ++i) {
      const double value = ritz.values[at(i)], depth = std::abs(mu - value);
      // More copies of the threshold are not wanted, and that there are some is known where mu is one.
      if (std::abs(value - limit) <= slack && distance <= slack) continue;
      // Polynomials that resolve mu hardly tell values apart that are this close, nor does the tolerance.
      const double close = std::max(0.02 * depth, slack);
      index_t copies = 0;
      for (index_t j = first; j < last; ++j) copies += std::abs(ritz.values[at(j)] - value) <= close ? 1 : 0;
      const double required = copies < random_columns ? trust_factor(random_columns - copies) * depth : 0;
      shortfall = required > 0 ? std::max(shortfall, residual / required) : inf;
      if (shortfall == inf) return;
    }
  };
  const auto limits = pairs.limits();
  visit(limits.low, pairs.first_low(), 0, pairs.ends.low);
  visit(limits.high, pairs.first_high(), m - pairs.ends.high, m);
  return shortfall;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, ratios_of)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, wanted_values)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, clearance_of)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, next_outside)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, slack_of)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, search_shortfall)

}  // namespace ts::inline v0::solvers
