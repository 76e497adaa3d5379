#include "tallskinny/solvers/eigen/transform/inertia.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Where to cut a rising list: a shift with `inside` of them before it, and how near it is to the next one.
struct Cut {
  double shift = 0, clearance = 0;
  index_t inside = 0;
};

/// `distances` rise from the safest wanted value to the last; `next` is the first outside, or NaN. A gap
/// serves when it is wide against the errors and against what rounding in the factorisation can move.
std::optional<Cut> choose_cut(const std::vector<double>& distances, double next, double margin, double tolerance) {
  const auto k = distances.size();
  if (next - distances.back() > 4 * margin)
    return Cut{0.5 * (distances.back() + next), 0.25 * (next - distances.back()), static_cast<index_t>(k)};
  // The set cuts a cluster: count what lies inside of the cluster, up to a margin of its first value.
  std::size_t first = k - 1;
  while (first > 0 && distances[first] - distances[first - 1] <= 4 * margin) --first;
  if (distances.back() - distances[first] > std::max(2 * margin, tolerance)) return std::nullopt;
  return Cut{distances[first] - 2 * margin, margin, static_cast<index_t>(first)};
}

double margin_of(const FoundSet& found) {
  const double error = *std::max_element(found.errors.begin(), found.errors.end());
  return std::max(error, 1e-10 * found.norm);
}

}  // namespace

bool count_ends(const FoundSet& found, Which which, Ends ends, const CountBelow& count_below) {
  if (found.values.empty() || !(found.norm > 0)) return false;
  const double margin = margin_of(found);
  const auto settle_low = [&](const std::vector<double>& rising, double next) {
    const auto cut = choose_cut(rising, next, margin, found.tolerance);
    const auto count = cut ? count_below(cut->shift, cut->clearance) : std::nullopt;
    return count && *count == cut->inside;
  };
  const auto settle_high = [&](std::vector<double> falling, double next) {
    for (double& v : falling) v = -v;
    const auto cut = choose_cut(falling, -next, margin, found.tolerance);
    const auto count = cut ? count_below(-cut->shift, cut->clearance) : std::nullopt;
    return count && found.n - *count == cut->inside;
  };
  if (which == Which::LM) {  // everything beyond +-r: fold both ends into one list of magnitudes
    std::vector<double> falling;
    for (const double v : found.values) falling.push_back(-std::abs(v));
    std::sort(falling.begin(), falling.end());
    const double next = std::max(std::abs(found.next_low), std::abs(found.next_high));
    const auto cut = choose_cut(falling, -next, margin, found.tolerance);
    if (!cut) return false;
    const auto below = count_below(cut->shift, cut->clearance);
    const auto not_above = count_below(-cut->shift, cut->clearance);
    return below && not_above && *below + found.n - *not_above == cut->inside;
  }
  bool settled = true;
  const auto low = static_cast<std::ptrdiff_t>(ends.low);
  if (ends.low > 0) settled = settle_low({found.values.begin(), found.values.begin() + low}, found.next_low);
  if (settled && ends.high > 0)
    settled = settle_high({found.values.rbegin(), found.values.rend() - low}, found.next_high);
  return settled;
}

bool count_near(const FoundSet& found, double sigma, const CountBelow& count_below) {
  if (found.values.empty() || !(found.norm > 0)) return false;
  std::vector<double> distances;
  for (const double v : found.values) distances.push_back(std::abs(v - sigma));
  std::sort(distances.begin(), distances.end());
  const double next = std::min(std::abs(found.next_low - sigma), std::abs(found.next_high - sigma));
  // Errors of the values bound the margin from below; rounding of the factorisation is relative to ||A||,
  // but values near sigma can be much nearer to each other than that.
  const double margin =
      std::max(*std::max_element(found.errors.begin(), found.errors.end()), 100 * unit_roundoff * found.norm);
  const auto cut = choose_cut(distances, next, margin, found.tolerance);
  if (!cut) return false;
  if (!(cut->shift > 0)) return cut->inside == 0;
  const auto below = count_below(sigma - cut->shift, cut->clearance),
             up_to = count_below(sigma + cut->shift, cut->clearance);
  return below && up_to && *up_to - *below == cut->inside;
}

}  // namespace ts::inline v0::solvers
