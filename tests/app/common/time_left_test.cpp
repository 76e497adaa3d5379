#include "tallskinny/app/common/time_left.hpp"

#include <cmath>
#include <vector>

#include "tallskinny/tests/support/test.hpp"

using namespace ts::app;

namespace {

/// The runs that the estimates were made for, within which they must be right.
constexpr double factor = 2;

bool within_factor(const std::optional<double>& estimate, double truth) {
  return estimate && *estimate<factor * truth&& * estimate> truth / factor;
}

/// An iteration of a run that ends when `multiple(number)` is 1.
template <class Multiple, class Seconds>
std::vector<IterationSeen> iterations(int count, const Multiple& multiple, const Seconds& seconds) {
  std::vector<IterationSeen> seen;
  for (int i = 1; i <= count; ++i) seen.push_back({1.0 * i, seconds(i), multiple(i), 1e6});
  return seen;
}

}  // namespace

TEST_CASE("time left of iterations whose number is unknown", "[time_left]") {
  const auto second = [](int) { return 1.0; };
  const auto geometric = [](int i) { return std::pow(0.8, i - 60); };
  const auto power = [](int i) { return std::pow(100.0 / i, 2); };
  for (const int now : {10, 20, 40, 55})
    CHECK(within_factor(seconds_left(iterations(now, geometric, second), 300), 60.0 - now));
  for (const int now : {20, 40, 80})
    CHECK(within_factor(seconds_left(iterations(now, power, second), 300), 100.0 - now));
  // Labels end a run too.
  auto labels = iterations(20, power, second);
  for (IterationSeen& i : labels) i.shift = 0, i.changed = geometric(static_cast<int>(i.number) + 30);
  CHECK(within_factor(seconds_left(labels, 300), 10));
}

TEST_CASE("iterations that get cheaper are not taken to cost what they did", "[time_left]") {
  const auto geometric = [](int i) { return std::pow(0.9, i - 100); };
  const auto cheaper = [](int i) { return 1 / std::sqrt(1.0 * i); };
  double truth = 0;
  for (int i = 31; i <= 100; ++i) truth += cheaper(i);
  CHECK(within_factor(seconds_left(iterations(30, geometric, cheaper), 300), truth));
}

TEST_CASE("time left is bounded by the most iterations, and needs some", "[time_left]") {
  const auto never = [](int) { return 1e30; };
  const auto second = [](int) { return 1.0; };
  CHECK(within_factor(seconds_left(iterations(10, never, second), 20), 10));
  CHECK(*seconds_left(iterations(20, never, second), 20) == 0);
  CHECK_FALSE(seconds_left(iterations(4, never, second), 20));
  CHECK_FALSE(seconds_left(std::vector<IterationSeen>{}, 20));
  // A run that goes on begins where it was.
  auto resumed = iterations(
      60, [](int i) { return std::pow(0.8, i - 80); }, second);
  resumed.erase(resumed.begin(), resumed.begin() + 30);
  CHECK(within_factor(seconds_left(resumed, 300), 20));
  const auto free = [](int) { return 0.0; };
  CHECK(std::isfinite(*seconds_left(iterations(10, free, free), 20)));
}

TEST_CASE("parts that are ahead take as long as those that were begun", "[time_left]") {
  CHECK(with_parts_ahead(5, 15, 1, 0) == 5);
  CHECK(with_parts_ahead(5, 15, 1, 3) == 65);
}

TEST_CASE("time left of residuals that fall", "[time_left]") {
  constexpr double end = 100;
  for (const double now : {10.0, 30.0, 60.0, 90.0}) {
    std::vector<ResidualsSeen> together, in_turn;
    for (double t = 0; t <= now; t += now / 40) {
      together.push_back({t, t, t / end, std::pow(10, 8 * (1 - t / end))});
      // Pairs converge one after the other: the worst stays until it is the last.
      in_turn.push_back({t, t, t / end, t < 80 ? 1e8 : std::pow(10, 8 * (end - t) / 20)});
    }
    CHECK(within_factor(seconds_left(together, 0), end - now + 0.1 * now));  // and the proof
    if (now < 80) CHECK(within_factor(seconds_left(in_turn, 0), end - now + 0.1 * now));
  }
}

TEST_CASE("residuals that do not fall tell nothing, and steps bound what they tell", "[time_left]") {
  std::vector<ResidualsSeen> looks;
  for (int i = 0; i < 10; ++i) looks.push_back({1.0 * i, 2.0 * i, 0.25, 1e5});
  CHECK_FALSE(seconds_left(looks, 100));
  for (ResidualsSeen& look : looks) look.fraction = 1e-3 * look.at;
  CHECK(*seconds_left(looks, 100) == Approx((100 - 18) / 2.0));
  for (ResidualsSeen& look : looks) look.worst = INFINITY;
  CHECK_FALSE(seconds_left(looks, 100));
  CHECK_FALSE(seconds_left(std::vector<ResidualsSeen>{}, 100));
}
