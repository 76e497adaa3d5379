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

/// The first tenth of a run of tskmeans, or eight iterations, on two cores that did other things too. None of them was
/// among those that the law was fitted to.
struct Recorded {
  const char* name;
  Clustering what;
  double left;  ///< seconds, in truth
  std::vector<IterationSeen> seen;
};
const std::vector<Recorded> recorded = {{"uniform",
                                         {4e+06, 8, 64},
                                         15.6,
                                         {{1, 0.254, 1.64e+05, 4000000},
                                          {2, 0.175, 3.26e+04, 755456},
                                          {3, 0.136, 1.76e+04, 466929},
                                          {4, 0.131, 1.19e+04, 361571},
                                          {5, 0.177, 7.87e+03, 293025},
                                          {6, 0.128, 5.23e+03, 237757},
                                          {7, 0.136, 3.7e+03, 196340},
                                          {8, 0.138, 2.81e+03, 166753}}},
                                        {"uniform, random rows first",
                                         {4e+06, 8, 200},
                                         25.5,
                                         {{1, 0.352, 7.66e+05, 4000000},
                                          {2, 0.316, 1.45e+05, 1119176},
                                          {3, 0.263, 6.2e+04, 623882},
                                          {4, 0.241, 3.43e+04, 437409},
                                          {5, 0.276, 2.3e+04, 341886},
                                          {6, 0.208, 1.69e+04, 285566},
                                          {7, 0.24, 1.3e+04, 247300},
                                          {8, 0.252, 1.03e+04, 217743},
                                          {9, 0.25, 8.31e+03, 194399},
                                          {10, 0.366, 6.89e+03, 175704}}},
                                        {"20 groups that overlap",
                                         {2e+06, 16, 30},
                                         6.32,
                                         {{1, 0.165, 7.03e+05, 2000000},
                                          {2, 0.133, 7.91e+04, 662808},
                                          {3, 0.0864, 2.74e+04, 249354},
                                          {4, 0.0926, 1.75e+04, 164116},
                                          {5, 0.0959, 5.72e+03, 109790},
                                          {6, 0.0757, 1.29e+03, 57001},
                                          {7, 0.0722, 518, 32726},
                                          {8, 0.0683, 328, 23344}}},
                                        {"the same, three clusters for a group",
                                         {2e+06, 16, 60},
                                         14.3,
                                         {{1, 0.172, 1.16e+06, 2000000},
                                          {2, 0.152, 8.32e+04, 621116},
                                          {3, 0.108, 1.41e+04, 212797},
                                          {4, 0.109, 4.5e+03, 113167},
                                          {5, 0.0998, 2.31e+03, 77028},
                                          {6, 0.104, 1.52e+03, 59296},
                                          {7, 0.0994, 1.13e+03, 49393},
                                          {8, 0.089, 886, 43425},
                                          {9, 0.0965, 707, 39120},
                                          {10, 0.0984, 586, 36199},
                                          {11, 0.0919, 479, 33230}}},
                                        {"a plane",
                                         {4e+06, 2, 200},
                                         5.93,
                                         {{1, 0.461, 1.74e+03, 4000000},
                                          {2, 0.301, 312, 282140},
                                          {3, 0.411, 136, 165108},
                                          {4, 0.452, 78.2, 119301},
                                          {5, 0.416, 54.1, 94643},
                                          {6, 0.144, 41, 79346},
                                          {7, 0.159, 31.9, 69000},
                                          {8, 0.121, 25.7, 61574}}},
                                        {"100 groups, two clusters for each",
                                         {3e+06, 8, 200},
                                         15.9,
                                         {{1, 0.299, 6.02e+05, 3000000},
                                          {2, 0.254, 1.6e+04, 296812},
                                          {3, 0.225, 3.63e+03, 132325},
                                          {4, 0.257, 1.44e+03, 83098},
                                          {5, 0.207, 709, 56407},
                                          {6, 0.221, 444, 40519},
                                          {7, 0.234, 454, 31449},
                                          {8, 0.224, 467, 26083}}},
                                        {"100 groups, fewer clusters",
                                         {3e+06, 8, 80},
                                         1.11,
                                         {{1, 0.3, 5.13e+05, 3000000},
                                          {2, 0.218, 2.35e+04, 265849},
                                          {3, 0.162, 7.38e+03, 73004},
                                          {4, 0.206, 4.35e+03, 33995},
                                          {5, 0.0799, 4.08e+03, 26440},
                                          {6, 0.109, 581, 14968},
                                          {7, 0.0517, 326, 8611},
                                          {8, 0.0548, 434, 7387}}},
                                        {"300 groups apart, fewer clusters",
                                         {600000, 64, 100},
                                         1.98,
                                         {{1, 0.211, 2.22e+07, 600000},
                                          {2, 0.196, 1.76e+06, 210219},
                                          {3, 0.148, 6.9e+05, 115195},
                                          {4, 0.136, 3.44e+05, 60933},
                                          {5, 0.157, 9.88e+04, 27996},
                                          {6, 0.0995, 3.13e+04, 14912},
                                          {7, 0.0629, 2.78e+04, 10283},
                                          {8, 0.102, 1.95e+04, 8197}}}};

/// Iterations of a run whose shift falls so.
std::vector<IterationSeen> falling(int count, double seconds = 1) {
  std::vector<IterationSeen> seen;
  for (int i = 1; i <= count; ++i) seen.push_back({1.0 * i, seconds, std::pow(100.0 / i, 2), 1e5 / i});
  return seen;
}
const Clustering million = {1e6, 8, 50};

}  // namespace

TEST_CASE("what is said of runs that were recorded was true within a factor of 2", "[time_left]") {
  int good = 0;
  for (const Recorded& run : recorded) {
    const auto said = seconds_left(run.seen, run.what);
    INFO(run.name << ": " << said.value_or(-1) << " s were said, " << run.left << " s it took");
    REQUIRE(said);
    CHECK((*said > run.left / 4 && *said < 4 * run.left));
    good += within_factor(said, run.left) ? 1 : 0;
  }
  CHECK(good >= 6);
}

TEST_CASE("how many iterations come depends on what is clustered and on what ends it", "[time_left]") {
  const auto seen = falling(20);
  const double usual = *seconds_left(seen, million);
  CHECK(*seconds_left(seen, {1e6, 32, 50}) > usual);
  CHECK(*seconds_left(seen, {1e6, 8, 200}) > usual);
  // Where only labels count, the fewer may change the longer it takes.
  auto labels = falling(20);
  for (IterationSeen& i : labels) i.shift = 0;
  const auto until = [&labels](double enough) {
    Clustering what = million;
    what.enough_changed = enough;
    return *seconds_left(labels, what);
  };
  CHECK(until(10) > 2 * until(1000));
  CHECK(until(0) == until(2));
}

TEST_CASE("the last iterations tell what one costs", "[time_left]") {
  auto cheaper = falling(20);
  for (IterationSeen& i : cheaper)
    if (i.number > 15) i.seconds = 0.25;
  cheaper[17].seconds = 30;  // the machine did something else
  Clustering what = million;
  what.passes_after = 0;
  CHECK(*seconds_left(cheaper, what) == Approx(*seconds_left(falling(20), what) / 4));
  what.passes_after = 2;
  CHECK(*seconds_left(cheaper, what) == Approx(*seconds_left(falling(20, 0.25), what) + 2 * 0.75));
}

TEST_CASE("time left is bounded by the most iterations, and needs some", "[time_left]") {
  Clustering what = million;
  CHECK_FALSE(seconds_left(falling(7), what));
  CHECK_FALSE(seconds_left(std::vector<IterationSeen>{}, what));
  CHECK(seconds_left(falling(8), what));
  what.most = 24, what.passes_after = 0;
  CHECK(*seconds_left(falling(20), what) < 4);
  CHECK(*seconds_left(falling(24), what) == 0);
  what.most = 3;  // of two levels: refinements of known number
  CHECK_FALSE(seconds_left(falling(1), what));
  CHECK(*seconds_left(falling(2), what) == 1);
  CHECK(std::isfinite(*seconds_left(falling(10, 0), million)));
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
