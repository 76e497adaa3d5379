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
std::optional<Cut> cut_outside(const std::vector<double>& distances, double next, double margin) {
  if (!(next - distances.back() > 4 * margin)) return std::nullopt;
  return Cut{0.5 * (distances.back() + next), 0.25 * (next - distances.back()), static_cast<index_t>(distances.size())};
}

/// Where the set cuts a cluster: what lies inside of the cluster, up to a margin of its first value.
std::optional<Cut> cut_before_cluster(const std::vector<double>& distances, double margin, double tolerance) {
  std::size_t first = distances.size() - 1;
  while (first > 0 && distances[first] - distances[first - 1] <= 4 * margin) --first;
  if (distances.back() - distances[first] > std::max(2 * margin, tolerance)) return std::nullopt;
  return Cut{distances[first] - 2 * margin, margin, static_cast<index_t>(first)};
}

/// @param count eigenvalues before a cut, nothing where that cannot be told
template <class Count>
CountVerdict verdict_of(const std::vector<double>& distances, double next, double margin, double tolerance,
                        const Count& count) {
  const auto holds = [&](const std::optional<Cut>& cut) {
    return cut && count(*cut) == std::optional<index_t>(cut->inside);
  };
  if (holds(cut_outside(distances, next, margin))) return {true, true};
  return {holds(cut_before_cluster(distances, margin, tolerance)), false};
}

double margin_of(const FoundSet& found) {
  const double error = *std::max_element(found.errors.begin(), found.errors.end());
  return std::max(error, 1e-10 * found.norm);
}

}  // namespace

CountVerdict count_ends(const FoundSet& found, Which which, Ends ends, const CountBelow& count_below) {
  using Count = std::optional<index_t>;
  if (found.values.empty() || !(found.norm > 0)) return {};
  const double margin = margin_of(found), tolerance = found.tolerance;
  const auto above = [&](double shift, double clearance) {
    const Count below = count_below(shift, clearance);
    return below ? Count(found.n - *below) : Count();
  };
  if (which == Which::LM) {  // everything beyond +-r: fold both ends into one list of magnitudes
    std::vector<double> falling;
    for (const double v : found.values) falling.push_back(-std::abs(v));
    std::sort(falling.begin(), falling.end());
    const double next = std::max(std::abs(found.next_low), std::abs(found.next_high));
    return verdict_of(falling, -next, margin, tolerance, [&](const Cut& cut) {
      const Count low = count_below(cut.shift, cut.clearance), high = above(-cut.shift, cut.clearance);
      return low && high ? Count(*low + *high) : Count();
    });
  }
  CountVerdict verdict{true, true};
  const auto join = [&](CountVerdict end) {
    verdict.complete = verdict.complete && end.complete, verdict.apart = verdict.apart && end.apart;
  };
  const auto low = static_cast<std::ptrdiff_t>(ends.low);
  if (ends.low > 0)
    join(verdict_of({found.values.begin(), found.values.begin() + low}, found.next_low, margin, tolerance,
                    [&](const Cut& cut) { return count_below(cut.shift, cut.clearance); }));
  if (verdict.complete && ends.high > 0) {
    std::vector<double> falling(found.values.rbegin(), found.values.rend() - low);
    for (double& v : falling) v = -v;
    join(verdict_of(falling, -found.next_high, margin, tolerance,
                    [&](const Cut& cut) { return above(-cut.shift, cut.clearance); }));
  }
  return verdict;
}

CountVerdict count_near(const FoundSet& found, double sigma, const CountBelow& count_below) {
  using Count = std::optional<index_t>;
  if (found.values.empty() || !(found.norm > 0)) return {};
  std::vector<double> distances;
  for (const double v : found.values) distances.push_back(std::abs(v - sigma));
  std::sort(distances.begin(), distances.end());
  const double next = std::min(std::abs(found.next_low - sigma), std::abs(found.next_high - sigma));
  // Errors of the values bound the margin from below; rounding of the factorisation is relative to ||A||,
  // but values near sigma can be much nearer to each other than that.
  const double margin =
      std::max(*std::max_element(found.errors.begin(), found.errors.end()), 100 * unit_roundoff * found.norm);
  return verdict_of(distances, next, margin, found.tolerance, [&](const Cut& cut) {
    if (!(cut.shift > 0)) return Count(0);
    const Count below = count_below(sigma - cut.shift, cut.clearance);
    const Count up_to = below ? count_below(sigma + cut.shift, cut.clearance) : Count();
    return up_to ? Count(*up_to - *below) : Count();
  });
}

}  // namespace ts::inline v0::solvers
