#include "tallskinny/app/common/time_left.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tallskinny/app/common/chart.hpp"

namespace ts::app {

namespace {

/// A straight line of least squares.
struct Trend {
  double slope = 0, now = 0;  ///< its value at the last point
  double squares = 0;         ///< sum of the squared distances of the points from it
};

/// `usual` is the slope that `weight` points at a distance of 1 would have.
Trend trend_of(std::span<const Point> points, double usual = 0, double weight = 0) {
  const auto n = static_cast<double>(points.size());
  double x = 0, y = 0, xx = weight, xy = weight * usual;
  for (const Point& p : points) x += p.x / n, y += p.y / n;
  for (const Point& p : points) xx += (p.x - x) * (p.x - x), xy += (p.x - x) * (p.y - y);
  Trend trend{xx > 0 ? xy / xx : 0};
  trend.now = y + trend.slope * (points.back().x - x);
  for (const Point& p : points) trend.squares += std::pow(p.y - y - trend.slope * (p.x - x), 2);
  return trend;
}

/// Between two numbers, by their logarithms: at share 0 the first.
double between_logs(double a, double b, double share) {
  return std::exp((1 - share) * std::log(a) + share * std::log(b));
}

// From 34 runs of tskmeans on 50,000 to 4,000,000 points, uniform ones and groups that overlap; twice or half of each
// changes little. What moves falls about like the inverse square of the iteration, what changes like its inverse, time
// like the inverse root; groups that lie apart end sooner, and then the fall is geometric.
constexpr std::size_t least_iterations = 5;
constexpr double usual_shift = -2, usual_changed = -1, usual_time = -0.5;
constexpr double weight_of_usual = 0.03, weight_of_usual_time = 0.5;
constexpr double usual_squares = 0.01;  ///< that neither fall should be believed to be without
constexpr double window = 3;            ///< the iterations from a third of the last one on are looked at
constexpr double usual_length = 80, weight_of_length = 4;  ///< iterations

/// The logarithms of the numbers of the last iterations, from `first` on, and of what they have.
template <class Of>
std::vector<Point> last_points(std::span<const IterationSeen> seen, double first, const Of& of) {
  std::vector<Point> points;
  points.reserve(seen.size());
  for (const IterationSeen& i : seen)
    if (i.number >= std::max(first, seen.back().number / window) || &i == &seen.back())
      points.push_back({std::log(i.number), std::log(std::max(of(i), 1e-9))});
  return points;
}

/// The number of the iteration at which something has fallen to 1: like a power of the number or geometrically, the one
/// that fits better having more of a say.
double last_iteration(std::span<const Point> points, double usual) {
  const double at = std::exp(points.back().x);
  std::vector<Point> by_number(points.begin(), points.end());
  for (Point& p : by_number) p.x = std::exp(p.x) / at;
  const Trend power = trend_of(points, usual, weight_of_usual), geometric = trend_of(by_number, usual, weight_of_usual);
  const auto logarithm_of_ratio = [usual](const Trend& trend) {
    constexpr double least = 0.01, slowest = 0.3;
    return std::max(trend.now, least) / std::max(-trend.slope, -slowest * usual);
  };
  const double like_power = at * std::exp(std::min(logarithm_of_ratio(power), 30.0));
  const double geometrically = at * (1 + logarithm_of_ratio(geometric));
  const double found =
      between_logs(geometrically, like_power,
                   (geometric.squares + usual_squares) / (geometric.squares + power.squares + 2 * usual_squares));
  return between_logs(found, at + usual_length, weight_of_length / (at + weight_of_length));
}

}  // namespace

std::optional<double> seconds_left(std::span<const IterationSeen> seen, double most) {
  if (seen.size() < least_iterations) return std::nullopt;
  const double at = seen.back().number;
  // The first iteration gives every row a label, and looks at all rows.
  double last = last_iteration(last_points(seen, 2, [](const auto& i) { return i.changed; }), usual_changed);
  if (seen.back().shift > 0)
    last = std::min(last, last_iteration(last_points(seen, 1, [](const auto& i) { return i.shift; }), usual_shift));
  last = std::min(std::max(last, at + 1), std::max(most, at));
  const Trend time =
      trend_of(last_points(seen, 2, [](const auto& i) { return i.seconds; }), usual_time, weight_of_usual_time);
  // The integral of seconds (i / at)^slope.
  const double power = 1 + std::clamp(time.slope, -0.95, 0.0);
  return std::exp(time.now) * at / power * (std::pow(last / at, power) - 1);
}

std::optional<double> seconds_left(std::span<const ResidualsSeen> seen, double most) {
  constexpr std::size_t least_looks = 4;
  if (seen.size() < least_looks) return std::nullopt;
  const double elapsed = seen.back().at - seen.front().at, begin = seen.front().at + elapsed / 2;
  std::vector<Point> fractions, decades, steps;
  fractions.reserve(seen.size()), decades.reserve(seen.size()), steps.reserve(seen.size());
  for (const ResidualsSeen& look : seen) {
    if (look.at < begin || !std::isfinite(look.worst)) continue;
    fractions.push_back({look.at, look.fraction});
    decades.push_back({look.at, std::log(std::max(look.worst, 1e-3))});
    steps.push_back({look.at, look.steps});
  }
  if (fractions.size() < 2) return std::nullopt;
  const Trend fraction = trend_of(fractions), worst = trend_of(decades), pace = trend_of(steps);
  const double done = std::clamp(fraction.now, 0.0, 0.999);
  std::optional<double> left;
  constexpr double nothing = 1e-3;  // has moved in all the time
  if (fraction.slope * elapsed > nothing) left = (1 - done) / fraction.slope;
  if (-worst.slope * elapsed > nothing) {
    const double of_worst = std::max(worst.now, 0.05) / -worst.slope;
    left = left ? between_logs(*left, of_worst, done) : of_worst;
  }
  // Proving that nothing is missing comes afterwards.
  constexpr double for_proof = 0.1;
  if (left) *left += for_proof * elapsed;
  if (left && most > 0 && pace.slope > 0) left = std::min(*left, std::max(0.0, most - seen.back().steps) / pace.slope);
  return left;
}

}  // namespace ts::app
