#include "tallskinny/solvers/kmeans/seeding/seeding_detail.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/seeding/candidate_sample_detail.hpp"
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
  std::unordered_set<index_t> seen;
  for (std::uint64_t draw = 0; std::ssize(rows) < count; ++draw) {
    const auto row = static_cast<index_t>(random.below(static_cast<std::uint64_t>(n), draw));
    if (seen.insert(row).second) rows.push_back(row);
  }
  return rows;
}

Matrix<double> seed_plus_plus(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream,
                              HostView<const double> have, const SeedProgress& report) {
  constexpr std::uint64_t most_samples = 128;  // streams
  Matrix<double> centers(p.k, p.cols());
  ortho::copy<double>(have, centers.view().rows(0, have.rows()));
  index_t count = have.rows();
  if (count == 0) {
    const index_t first = draw_by_weight(p, Random(seed, stream + Purpose::first_row).uniform(0));
    p.load_rows({&first, 1}, centers.view().rows(count++, 1));
  }
  Potential potential(p);
  potential.lower(centers.cview().rows(0, count));
  const index_t size = seeding_sample(p.all_rows(), p.cols(), p.k), trials = seeding_trials(p.k);
  const bool all = size == p.all_rows();
  const Random draws(seed, stream + Purpose::draws);
  CopiedRows::Storage storage;
  for (std::uint64_t round = 0; count < p.k && potential.total() > 0; ++round) {
    report(count);
    const Random random(seed, stream + Purpose::samples + round % most_samples);
    CandidateSample sample(p, potential, {all ? inf : static_cast<double>(size) / potential.total()}, random, random,
                           std::move(storage));
    const index_t most = all ? p.k : size / seeding_rows_for_each;
    Choosing how{trials, std::min(p.k - count, most), all ? 0 : stale * sample.potential().total(), draws.philox(),
                 static_cast<std::uint64_t>(count * trials)};
    how.report = [&](index_t more) { report(count + more); };
    std::vector<index_t> rows = sample.potential().choose(how);
    if (rows.empty() && all) break;
    for (index_t& row : rows) row = sample.numbers()[at(row)];
    storage = std::move(sample).storage();
    const HostView<double> more = centers.view().rows(count, std::ssize(rows));
    p.load_rows(rows, more);
    count += std::ssize(rows);
    if (rows.empty() || count == p.k) continue;
    if (potential.takes_rows())
      potential.lower(rows);
    else
      potential.lower(more);
  }
  // All rows that weigh something coincide with a centre.
  const std::vector<index_t> copies(at(p.k - count), count < p.k ? p.last_of_weight() : 0);
  p.load_rows(copies, centers.view().rows(count, std::ssize(copies)));
  return centers;
}

}  // namespace ts::inline v0::solvers::kmeans_detail

namespace ts::inline v0::solvers {

index_t seeding_sample(index_t rows, index_t cols, index_t clusters) noexcept {
  using namespace kmeans_detail;
  constexpr index_t least = index_t{1} << 14;
  // All candidates meet the sample: as many products as this many iterations have.
  constexpr double most_iterations = 2.5;
  const index_t for_each_trial = rows / seeding_trials(clusters);
  const auto affordable = static_cast<index_t>(most_iterations * static_cast<double>(for_each_trial));
  const index_t size = std::max(least, std::min(seeding_rows_for_each * clusters, affordable));
  const index_t most = std::max(seeding_rows_for_each, most_sampled / std::max<index_t>(cols, 1));
  return std::min({rows, size, most});
}

}  // namespace ts::inline v0::solvers
