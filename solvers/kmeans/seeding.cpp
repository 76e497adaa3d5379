#include "tallskinny/solvers/kmeans/seeding_detail.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/candidate_sample_detail.hpp"
#include "tallskinny/solvers/kmeans/seen.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

index_t draw_by_weight(const KMeansProblem& p, double uniform) {
  const index_t n = p.all_rows();
  if (!p.weighted()) return std::min(n - 1, static_cast<index_t>(uniform * static_cast<double>(n)));
  std::array<double, 2> state{uniform * p.total_weight(), 0};
  double &rest = state[0], &last = state[1];
  in_turn(p.ctx, state, [&] {
    for (index_t i = 0; i < p.rows() && !(rest < 0); ++i) {
      if (p.weight(i) == 0) continue;
      last = static_cast<double>(p.first_row() + i);
      rest -= p.weight(i);
    }
  });
  return static_cast<index_t>(last);
}

std::vector<index_t> some_rows(index_t n, index_t count, const Random& random) {
  std::vector<index_t> rows;
  rows.reserve(at(count));
  Seen seen(count);
  for (std::uint64_t draw = 0; std::ssize(rows) < count; ++draw) {
    const auto row = static_cast<index_t>(random.below(static_cast<std::uint64_t>(n), draw));
    if (seen.add(static_cast<std::uint64_t>(row), row, [&](index_t other) { return other == row; }))
      rows.push_back(row);
  }
  return rows;
}

namespace {

/// Which centres are chosen, have .. until - 1, while the potential is above `enough`.
struct Wanted {
  index_t have, until;
  double enough;
};

/// Chooses centres, each the best of a few draws. In host memory a sample, which all ranks have, and other rows are
/// drawn from by different random numbers. Returns which rows were chosen.
template <class S>
std::vector<index_t> choose(const KMeansProblem& p, Potential<S>& potential, bool sampled, const Random& random,
                            const Wanted& wanted, Matrix<double>& centers, const Chosen& chosen) {
  auto [have, until, enough] = wanted;
  const index_t trials = seeding_trials(centers.rows());
  Matrix<double> candidates(trials, p.cols());
  std::vector<double> uniforms(at(trials));
  std::vector<index_t> all;
  all.reserve(at(std::max<index_t>(until - have, 0)));
  const bool together = sampled || p.source.space() == Space::device;
  chosen(have);
  if (together && have < until && potential.total() > std::max(enough, 0.0)) {
    auto rows = potential.choose({trials, until - have, std::max(enough, 0.0), random.philox(),
                                  static_cast<std::uint64_t>(have * trials),
                                  [&, have = have](index_t more) { chosen(have + more); }});
    if (rows) {
      p.load_rows(*rows, centers.view().rows(have, std::ssize(*rows)));
      have += std::ssize(*rows);
      all = std::move(*rows);
    }
  }
  for (; have < until && potential.total() > enough; ++have) {
    chosen(have);
    for (index_t q = 0; q < trials; ++q)
      uniforms[at(q)] = random.uniform(static_cast<std::uint64_t>(have * trials + q));
    const std::vector<index_t> drawn = potential.draw(uniforms);
    p.load_rows(drawn, candidates.view());
    const bool equal = !(potential.total() > 0);  // every row is a centre: no candidate lowers that
    const std::vector<double> totals =
        equal ? std::vector<double>(at(trials)) : potential.totals_with(candidates.cview());
    const auto best = std::min_element(totals.begin(), totals.end()) - totals.begin();
    std::copy_n(candidates.data() + best * p.cols(), p.cols(), centers.data() + have * p.cols());
    if (!equal) potential.lower(candidates.cview().rows(best, 1));
    all.push_back(drawn[at(best)]);
  }
  return all;
}

/// Rows in a sample; infinity: all that are no centre; 0: none, since rows are too wide.
double sample_size(const KMeansProblem& p) {
  const index_t size = seeding_sample(p.all_rows(), p.cols(), p.k);
  return size == p.all_rows() ? inf : static_cast<double>(size);
}

/// False if, in the precision S, all rows coincide with a centre before there are k of them.
template <class S>
bool plus_plus(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, index_t have, Matrix<double>& centers,
               const Chosen& chosen) {
  constexpr bool last_resort = sizeof(S) == sizeof(double);
  const Random random(seed, stream + Purpose::draws);
  Potential<S> potential(p);
  if (have == 0) {
    const index_t first = draw_by_weight(p, Random(seed, stream + Purpose::first_row).uniform(0));
    p.load_rows({&first, 1}, centers.view().rows(0, 1));
    have = 1;
  }
  potential.lower(centers.cview().rows(0, have));
  const double size = sample_size(p);
  PerRowArray<S> room;
  for (std::uint64_t round = 0; size > 0 && have < p.k && potential.total() > 0; ++round) {
    CandidateSample<S> sample(p, potential, Random(seed, stream + Purpose::samples + round % 128), size,
                              std::move(room));
    const bool all = std::isinf(size);
    const index_t until = all ? p.k : std::min(p.k, have + static_cast<index_t>(size / seeding_rows_for_each));
    std::vector<index_t> rows = choose(sample.problem(), sample.potential(), true, random,
                                       {have, until, all ? 0 : stale * sample.potential().total()}, centers, chosen);
    const index_t before = std::exchange(have, have + std::ssize(rows));
    if (have == p.k) return true;
    if (rows.empty()) break;
    for (index_t& row : rows) row = sample.numbers()[at(row)];
    room = std::move(sample).room();
    if (potential.takes_rows())
      potential.lower(rows);
    else
      potential.lower(centers.cview().rows(before, have - before));
  }
  const auto rows = choose(p, potential, false, random, {have, p.k, last_resort ? -1.0 : 0.0}, centers, chosen);
  return have + std::ssize(rows) == p.k;
}

}  // namespace

Matrix<double> seed_plus_plus(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream,
                              HostView<const double> have, const Chosen& chosen) {
  Matrix<double> centers(p.k, p.cols());
  ortho::copy<double>(have, centers.view().rows(0, have.rows()));
  if (p.source.type() == DType::float64 || !plus_plus<float>(p, seed, stream, have.rows(), centers, chosen))
    plus_plus<double>(p, seed, stream, have.rows(), centers, chosen);
  return centers;
}

}  // namespace ts::inline v0::solvers::kmeans_detail

namespace ts::inline v0::solvers {

index_t seeding_sample(index_t rows, index_t cols, index_t clusters) noexcept {
  constexpr index_t least = index_t{1} << 14, for_each_centre = 16;
  // All candidates meet the sample: as many products as this many iterations have.
  constexpr double most_iterations = 2.5;
  const index_t for_each_trial = rows / kmeans_detail::seeding_trials(clusters);
  const auto affordable = static_cast<index_t>(most_iterations * static_cast<double>(for_each_trial));
  const index_t size = std::min(rows, std::max(least, std::min(for_each_centre * clusters, affordable)));
  return cols <= kmeans_detail::most_sampled / std::max<index_t>(size, 1) ? size : 0;
}

}  // namespace ts::inline v0::solvers
