#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "tallskinny/solvers/kmeans/gathered_detail.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/squared_distance.hpp"
#include "tallskinny/solvers/kmeans/variants/variants_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

using assign_detail::squared_distance;

/// Numbers of centres to add, each until that gains nothing, and iterations that follow. Fewer take less time, but are
/// worse than the best of ten starts where centres lie along lines.
constexpr std::array breaths{4, 3, 2, 1, 1};
constexpr int iterations = 10;
constexpr std::uint64_t most_rounds = 32;  ///< of all breaths; usual are 6 to 25

struct Found {
  Matrix<double> centers;
  double inertia;
};

Found iterated(const KMeansProblem& p, Matrix<double> centers, const LloydControl& control) {
  std::vector<Lloyd> one;
  one.emplace_back(p, std::move(centers), control);
  run_together(p, one);
  LloydRun run = std::move(one.front()).result();
  const double inertia = inertia_of(p, run.centers.cview(), run.labels);
  return {std::move(run.centers), inertia};
}

/// Utility of each centre: the growth of the inertia without it while the others stay, in units of its own. It is the
/// sum over its rows of the squared distance to the nearest other centre less that to itself, rounded.
std::vector<double> utilities(const KMeansProblem& p, HostView<const double> centers) {
  RowBounds bounds(p.rows());
  bounds.begin_pass(p.ctx, centers, p.moments);
  std::vector<std::int32_t> nearest(at(p.rows()), -1);
  assign_all(p, centers, Scores::float64, nearest, &bounds);
  std::vector<double> found(at(centers.rows()));
  for (index_t i = 0; i < p.rows(); ++i) {
    const double own = *bounds.upper(i), other = *bounds.lower(i);
    if (std::isfinite(own)) found[at(nearest[at(i)])] += p.weight(i) * (other * other - own * own);
  }
  return found;
}

/// All but `count` centres of least utility. The nearest of those that stay takes the rows of one that goes, so it does
/// not go, too, while others can.
Matrix<double> without_least(const KMeansProblem& p, HostView<const double> centers, index_t count) {
  const index_t k = centers.rows();
  const std::vector<double> utility = utilities(p, centers);
  enum class Fate { undetermined, stays, goes };
  std::vector<Fate> fates(at(k), Fate::undetermined);
  for (index_t gone = 0, kept = 0; gone < count; ++gone) {
    index_t least = -1, heir = -1;
    for (index_t m = 0; m < k; ++m)
      if (fates[at(m)] == Fate::undetermined && (least < 0 || utility[at(m)] < utility[at(least)])) least = m;
    fates[at(least)] = Fate::goes;
    double nearest = inf;
    for (index_t m = 0; m < k; ++m)
      if (fates[at(m)] != Fate::goes)
        if (const double distance = squared_distance<double>(&centers(least, 0), &centers(m, 0), centers.cols());
            distance < nearest)
          nearest = distance, heir = m;
    if (heir >= 0 && fates[at(heir)] == Fate::undetermined && kept < k - count) fates[at(heir)] = Fate::stays, ++kept;
  }
  Matrix<double> left(k - count, centers.cols());
  for (index_t m = 0, to = 0; m < k; ++m)
    if (fates[at(m)] != Fate::goes) std::copy_n(&centers(m, 0), centers.cols(), left.data() + to++ * left.cols());
  return left;
}

}  // namespace

Matrix<double> breathe(const KMeansProblem& all, const FirstCenters& first, std::uint64_t seed,
                       const LloydControl& control, const SeedProgress& report) {
  std::optional<GatheredProblem> copy;
  if (all.distributed() || all.source.space() == Space::device || !all.source.in_memory()) {
    std::vector<index_t> numbers(at(all.all_rows()));
    std::iota(numbers.begin(), numbers.end(), index_t{0});
    copy.emplace(all, numbers);
  }
  const KMeansProblem& p = copy ? **copy : all;
  LloydControl whole = control;
  whole.on_progress = nullptr, whole.on_state = nullptr;
  LloydControl few = whole;
  few.max_iter = std::min(iterations, control.max_iter);
  Found best = iterated(p, first(p), whole);
  std::uint64_t round = 0;
  for (const index_t most : breaths) {
    const index_t more = std::min({most, p.k, p.rows() - p.k});
    KMeansProblem grown = p;
    grown.k = p.k + more;
    for (bool better = true; better && round < most_rounds;) {
      Matrix<double> centers = seed_plus_plus(grown, seed, ++round << 8, best.centers.cview(), report);
      if (control.spherical) normalise(centers.view());
      centers = iterated(grown, std::move(centers), few).centers;
      Found found = iterated(p, without_least(grown, centers.cview(), more), few);
      better = found.inertia < best.inertia;
      if (better) best = std::move(found);
    }
  }
  return std::move(best.centers);
}

}  // namespace ts::inline v0::solvers::kmeans_detail

bool ts::solvers::breathing_pays(index_t rows, index_t cols, index_t clusters) noexcept {
  constexpr index_t most_rows = index_t{1} << 15, most_products = index_t{1} << 24;
  return clusters > 1 && clusters < rows && rows <= most_rows && cols <= most_products / rows / clusters;
}
