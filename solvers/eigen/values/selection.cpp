#include "tallskinny/solvers/eigen/values/selection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ts::inline v0::solvers {

std::vector<index_t> indices_of(Ends ends, index_t m) {
  std::vector<index_t> indices;
  for (index_t i = 0; i < ends.low; ++i) indices.push_back(i);
  for (index_t i = m - ends.high; i < m; ++i) indices.push_back(i);
  return indices;
}

Ends wanted_ends(std::span<const double> ascending, Which which, index_t k) {
  const auto m = static_cast<index_t>(ascending.size());
  k = std::min(k, m);
  if (which == Which::LA) return {0, k};
  if (which == Which::SA) return {k, 0};
  if (which == Which::BE) return {k / 2, k - k / 2};
  Ends ends;
  while (ends.total() < k) {
    const double low = std::abs(ascending[at(ends.low)]);
    const double high = std::abs(ascending[at(m - 1 - ends.high)]);
    if (low > high)
      ++ends.low;
    else
      ++ends.high;
  }
  return ends;
}

Ends grown_ends(std::span<const double> ascending, Which which, Ends ends, index_t extra) {
  const auto m = static_cast<index_t>(ascending.size());
  extra = std::clamp<index_t>(extra, 0, m - ends.total());
  if (which == Which::LA) return {ends.low, ends.high + extra};
  if (which == Which::SA) return {ends.low + extra, ends.high};
  if (which == Which::BE) return {ends.low + extra / 2, ends.high + extra - extra / 2};
  // By magnitude, the next values are again a prefix from both ends; each end gets some, so that neither side is
  // forgotten when the other leads.
  const auto by_magnitude = wanted_ends(ascending, Which::LM, ends.total() + extra);
  const index_t least = extra / 4;
  Ends grown = by_magnitude;
  if (grown.low < ends.low + least) grown = {ends.low + least, ends.total() + extra - ends.low - least};
  if (grown.high < ends.high + least) grown = {ends.total() + extra - ends.high - least, ends.high + least};
  return grown;
}

Thresholds thresholds(std::span<const double> ascending, Which which, Ends ends) {
  const auto m = static_cast<index_t>(ascending.size());
  Thresholds t{-inf, inf};
  if (ends.low > 0) t.low = ascending[at(ends.low - 1)];
  if (ends.high > 0) t.high = ascending[at(m - ends.high)];
  if (which == Which::LM || which == Which::SM) {
    const double bound = std::min(ends.low > 0 ? std::abs(t.low) : inf, ends.high > 0 ? std::abs(t.high) : inf);
    t = {-bound, bound};
  }
  return t;
}

std::vector<index_t> rising_order(const std::vector<double>& values) {
  std::vector<index_t> order(values.size());
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return values[at(a)] < values[at(b)]; });
  return order;
}

}  // namespace ts::inline v0::solvers
