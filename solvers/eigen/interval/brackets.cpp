#include "tallskinny/solvers/eigen/interval/brackets.hpp"

#include <algorithm>
#include <cmath>

namespace ts::inline v0::solvers {

namespace {

std::optional<Counted> counted_at(double shift, const CountBelow& count_below) {
  const auto below = count_below(shift, 0);
  return below ? std::optional(Counted{shift, *below}) : std::nullopt;
}

class Bisection {
 public:
  Bisection(const std::vector<double>& guesses, BracketWidth width, const CountBelow& count_below)
      : guesses_(guesses), width_(width), count_below_(count_below) {}

  void divide(Counted low, Counted high) {
    const index_t inside = high.below - low.below;
    sound = sound && inside >= 0;
    if (!sound || inside == 0) return;
    if (high.shift - low.shift > allowed(std::max(std::abs(low.shift), std::abs(high.shift)))) {
      if (const auto cut = cut_between(low.shift, high.shift)) {
        divide(low, *cut);
        divide(*cut, high);
        return;
      }
    }
    found.push_back({low.shift, high.shift, inside});
  }

  std::vector<Bracket> found;
  bool sound = true;

 private:
  [[nodiscard]] double allowed(double size) const { return std::max(width_.relative * size, width_.least); }

  /// A certain count beside a guess if there is one, else near the middle.
  [[nodiscard]] std::optional<Counted> cut_between(double low, double high) const {
    const double middle = low + 0.5 * (high - low);
    double best = nan;
    const auto from = std::lower_bound(guesses_.begin(), guesses_.end(), low);
    for (auto guess = from; guess != guesses_.end() && *guess < high; ++guess)
      for (const double side : {-0.25, 0.25}) {
        const double at = *guess + side * allowed(std::abs(*guess));
        if (at > low && at < high && !(std::abs(at - middle) >= std::abs(best - middle))) best = at;
      }
    if (const auto cut = std::isnan(best) ? std::nullopt : counted_at(best, count_below_)) return cut;
    for (const double share : {0.5, 0.4142, 0.5774}) {
      const double at = low + share * (high - low);
      if (!(at > low && at < high)) break;
      if (const auto cut = counted_at(at, count_below_)) return cut;
    }
    return std::nullopt;
  }

  const std::vector<double>& guesses_;
  BracketWidth width_;
  const CountBelow& count_below_;
};

}  // namespace

std::optional<CountedEnd> count_around(double end, double step, const CountBelow& count_below) {
  constexpr int attempts = 16;
  constexpr double growth = 8;
  if (const auto there = counted_at(end, count_below)) return CountedEnd{*there, *there};
  std::optional<Counted> low, high;
  for (int attempt = 0; attempt < attempts && !(low && high); ++attempt, step *= growth) {
    if (!low) low = counted_at(end - step, count_below);
    if (!high) high = counted_at(end + step, count_below);
  }
  return low && high ? std::optional(CountedEnd{*low, *high}) : std::nullopt;
}

std::optional<std::vector<Bracket>> bracket_eigenvalues(Counted low, Counted high, const std::vector<double>& guesses,
                                                        BracketWidth width, const CountBelow& count_below) {
  Bisection bisection(guesses, width, count_below);
  bisection.divide(low, high);
  return bisection.sound ? std::optional(std::move(bisection.found)) : std::nullopt;
}

}  // namespace ts::inline v0::solvers
