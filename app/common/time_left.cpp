#include "tallskinny/app/common/time_left.hpp"

#include <algorithm>
#include <array>
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

// By least squares from runs of tskmeans (tests/bench/meter_fit.py): what tells how many iterations are to come.
constexpr std::size_t least_iterations = 8;
constexpr double usual_shift = -1.5, usual_changed = -1, weight_of_usual = 0.05;
/// Its logarithm is a sum of logarithms, each times one of these.
struct Law {
  double one, number, multiple, changed, clusters, columns;
};
constexpr double few_labels = 2;  ///< where none may change the last ones do in no time
constexpr Law by_shift = {4.99, 0.62, -0.25, 0.99, 0.58, 0.59}, by_labels = {0.26, 0.79, 0.67, 0, 0, 0};
constexpr double usual_cost = -0.2;  ///< later iterations cost this power of how much later they are

/// Between two numbers, by their logarithms: at share 0 the first.
double between_logs(double a, double b, double share) {
  return std::exp((1 - share) * std::log(a) + share * std::log(b));
}

/// What `of` the last iteration is, as a logarithm: by the trend of the later half of them without the first, which
/// gives every row a label.
template <class Of>
double logarithm_now(std::span<const IterationSeen> seen, double usual, const Of& of) {
  std::vector<Point> points;
  points.reserve(seen.size());
  for (const IterationSeen& i : seen)
    if (i.number >= std::max(2.0, seen.back().number / 2))
      points.push_back({std::log(i.number), std::log(std::max(of(i), 1e-9))});
  return trend_of(points, usual, weight_of_usual).now;
}

double iterations_left(std::span<const IterationSeen> seen, const Clustering& what) {
  const double changed = logarithm_now(seen, usual_changed, [](const auto& i) { return i.changed; });
  const bool moves = seen.back().shift > 0;
  const double multiple = moves ? logarithm_now(seen, usual_shift, [](const auto& i) { return i.shift; })
                                : changed - std::log(std::max(what.enough_changed, few_labels));
  const Law& law = moves ? by_shift : by_labels;
  return std::exp(law.one + law.number * std::log(seen.back().number) + law.multiple * multiple +
                  law.changed * (changed - std::log(what.rows)) + law.clusters * std::log(what.clusters) +
                  law.columns * std::log(what.columns));
}

/// Of the last ones: one of them may have waited for the machine.
double usual_seconds(std::span<const IterationSeen> seen) {
  std::array<double, 5> last{};
  std::transform(seen.end() - std::ssize(last), seen.end(), last.begin(), [](const auto& i) { return i.seconds; });
  std::nth_element(last.begin(), last.begin() + 2, last.end());
  return last[2];
}

}  // namespace

std::optional<double> seconds_left(std::span<const IterationSeen> seen, const Clustering& what) {
  if (seen.empty()) return std::nullopt;
  const double at = seen.back().number, most = std::max(0.0, what.most - at);
  const double afterwards = what.passes_after * seen[std::min<std::size_t>(1, seen.size() - 1)].seconds;
  if (seen.size() < least_iterations) {
    if (most > static_cast<double>(seen.size())) return std::nullopt;
    return most * seen.back().seconds + afterwards;
  }
  const double left = std::min(std::max(1.0, iterations_left(seen, what)), most);
  return usual_seconds(seen) * left * std::pow(1 + left / at, usual_cost) + afterwards;
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
