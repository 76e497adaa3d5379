#include "tallskinny/solvers/kmeans/seeding_detail.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/solvers/kmeans/potential_detail.hpp"
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

constexpr index_t rounds = 5;  ///< of k-means||
constexpr double oversampling = 0.5;
constexpr index_t most_sampled = index_t{1} << 28;  ///< numbers

/// Streams of one restart: numbers that serve different purposes never meet.
enum Purpose : std::uint64_t { first_row = 0, draws = 1, kept = 2, samples = 64 };

/// Which centres are chosen, have .. until - 1, while the potential is above `enough`.
struct Wanted {
  index_t have, until;
  double enough;
};

/// Chooses centres, each the best of a few draws. In host memory a sample, which all ranks have, and other rows are
/// drawn from by different random numbers. Returns how many centres there are then.
template <class S>
index_t choose(const KMeansProblem& p, Potential<S>& potential, bool sampled, const Random& random,
               const Wanted& wanted, Matrix<double>& centers, const Chosen& chosen) {
  auto [have, until, enough] = wanted;
  const index_t trials = seeding_trials(centers.rows());
  Matrix<double> candidates(trials, p.cols());
  std::vector<double> uniforms(at(trials));
  const bool together = sampled || p.source.space() == Space::device;
  chosen(have);
  if (together && have < until && potential.total() > std::max(enough, 0.0)) {
    const auto rows = potential.choose({trials, until - have, std::max(enough, 0.0), random.philox(),
                                        static_cast<std::uint64_t>(have * trials),
                                        [&, have = have](index_t more) { chosen(have + more); }});
    if (rows) {
      p.load_rows(*rows, centers.view().rows(have, std::ssize(*rows)));
      have += std::ssize(*rows);
    }
  }
  for (; have < until && potential.total() > enough; ++have) {
    chosen(have);
    for (index_t q = 0; q < trials; ++q)
      uniforms[at(q)] = random.uniform(static_cast<std::uint64_t>(have * trials + q));
    p.load_rows(potential.draw(uniforms), candidates.view());
    const std::vector<double> totals = potential.totals_with(candidates.cview());
    const auto best = std::min_element(totals.begin(), totals.end()) - totals.begin();
    std::copy_n(candidates.data() + best * p.cols(), p.cols(), centers.data() + have * p.cols());
    potential.lower(candidates.cview().rows(best, 1));
  }
  return have;
}

/// A few rows that stand for all: each row is among them with probability q = min(1, factor w D^2) and weighs
/// w / q, so that potentials of the sample, be it with further centres, are on average those of all rows
/// (Horvitz, Thompson 1952), and draws from it are draws by w D^2.
template <class S>
class CandidateSample {
 public:
  /// `size`: how many rows, about; infinity: all that are no centre. @param room of the sample before
  CandidateSample(const KMeansProblem& p, const Potential<S>& all, const Random& random, double size,
                  PerRowArray<S> room = {})
      : CandidateSample(p, all, size / all.total(), all.keep(size / all.total(), random.philox()), std::move(room)) {}
  CandidateSample(const CandidateSample&) = delete;
  CandidateSample& operator=(const CandidateSample&) = delete;

  [[nodiscard]] const KMeansProblem& problem() const noexcept { return problem_; }
  [[nodiscard]] Potential<S>& potential() noexcept { return potential_; }
  /// Its memory, for the next.
  [[nodiscard]] PerRowArray<S> room() && { return std::move(values_); }

 private:
  CandidateSample(const KMeansProblem& p, const Potential<S>& all, double factor, const std::vector<index_t>& numbers,
                  PerRowArray<S> room)
      : CandidateSample(p, factor, numbers, all.squared(numbers), std::move(room)) {}
  CandidateSample(const KMeansProblem& p, double factor, const std::vector<index_t>& numbers,
                  const std::vector<S>& squared, PerRowArray<S> room)
      : values_(p.scale.empty() ? p.rows_as<S>(numbers, std::move(room)) : PerRowArray<S>()),
        scaled_(p.scale.empty() ? PerRowArray<double>() : p.rows_as<double>(numbers)),
        rows_(p.scale.empty() ? rows_of<S>(p.ctx, values_.view(), std::ssize(numbers), p.cols())
                              : rows_of<double>(p.ctx, scaled_.view(), std::ssize(numbers), p.cols())),
        weights_(weights(p, factor, numbers, squared)),
        alone_(alone(p.ctx)),
        problem_{alone_, rows_, {}, weights_, p.k, {}, p.moments},
        potential_(problem_, squared) {
    problem_.place_weights();
  }
  static std::vector<double> weights(const KMeansProblem& p, double factor, const std::vector<index_t>& numbers,
                                     const std::vector<S>& squared) {
    std::vector<double> found = p.weights_at(numbers);
    for (std::size_t q = 0; q < numbers.size(); ++q)
      found[q] /= std::min(1.0, factor * (found[q] * static_cast<double>(squared[q])));
    return found;
  }

  PerRowArray<S> values_;       ///< S holds all numbers of the types that are seeded in it
  PerRowArray<double> scaled_;  ///< but not their products with scales of rows
  RowsInMemory rows_;
  std::vector<double> weights_;
  Context alone_;  ///< all ranks hold the sample
  KMeansProblem problem_;
  Potential<S> potential_;
};

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
  const Random random(seed, stream + draws);
  Potential<S> potential(p);
  if (have == 0) {
    const index_t first = draw_by_weight(p, Random(seed, stream + first_row).uniform(0));
    p.load_rows({&first, 1}, centers.view().rows(0, 1));
    have = 1;
  }
  potential.lower(centers.cview().rows(0, have));
  const double size = sample_size(p);
  constexpr double stale = 1.0 / 16;  // what is left of a potential when its sample has served
  PerRowArray<S> room;
  for (std::uint64_t round = 0; size > 0 && have < p.k && potential.total() > 0; ++round) {
    CandidateSample<S> sample(p, potential, Random(seed, stream + samples + round % 128), size, std::move(room));
    const bool all = std::isinf(size);
    const index_t before = have;
    const index_t until =
        all ? p.k : std::min({p.k, seeding_growth * have, have + static_cast<index_t>(size / seeding_rows_for_each)});
    have = choose(sample.problem(), sample.potential(), true, random,
                  {have, until, all ? 0 : stale * sample.potential().total()}, centers, chosen);
    if (have == p.k) return true;
    if (have == before) break;
    room = std::move(sample).room();
    potential.lower(centers.cview().rows(before, have - before));
  }
  return choose(p, potential, false, random, {have, p.k, last_resort ? -1.0 : 0.0}, centers, chosen) == p.k;
}

/// The rows that k-means|| keeps, the first of them drawn by weight.
struct Kept {
  Matrix<double> rows;
  PerRowArray<std::int32_t> nearest;  ///< for each row, the nearest of them
};

template <class S>
Kept oversample(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, const Chosen& chosen) {
  Potential<S> potential(p);
  Kept kept_rows{{}, p.filled<std::int32_t>(no_label)};
  std::vector<index_t> picked = {draw_by_weight(p, Random(seed, stream + first_row).uniform(0))};
  const auto picked_from = [&](std::size_t from) {
    Matrix<double> out(static_cast<index_t>(picked.size() - from), p.cols());
    p.load_rows(std::span(picked).subspan(from), out.view());
    return out;
  };
  potential.lower(picked_from(0).cview(), kept_rows.nearest.view());
  for (index_t round = 0; round < rounds && potential.total() > 0; ++round) {
    chosen(std::min(p.k - 1, static_cast<index_t>(picked.size())));
    const Random random(seed, stream + kept + static_cast<std::uint64_t>(round));
    const double factor = oversampling * static_cast<double>(p.k) / potential.total();
    const std::size_t before = picked.size();
    const std::vector<index_t> more = potential.keep(factor, random.philox());
    picked.insert(picked.end(), more.begin(), more.end());
    if (picked.size() > before)
      potential.lower(picked_from(before).cview(), kept_rows.nearest.view(), static_cast<std::int32_t>(before));
  }
  kept_rows.rows = picked_from(0);
  return kept_rows;
}

/// What the rows weigh that are nearest to each kept one.
std::vector<double> weights_of(const KMeansProblem& p, const Kept& kept_rows) {
  const index_t count = kept_rows.rows.rows();
  if (!p.weighted()) {
    auto counts = count_numbers(p.ctx, kept_rows.nearest.view(), count);
    p.ctx.communicator->add(counts);
    return {counts.begin(), counts.end()};
  }
  std::vector<double> weights(at(count));
  const std::vector<std::int32_t> nearest = kept_rows.nearest.to_host();
  in_turn(p.ctx, weights, [&] {
    for (index_t i = 0; i < p.rows(); ++i) weights[at(nearest[at(i)])] += p.weight(i);
  });
  return weights;
}

/// k-means++ on them.
template <class S>
Matrix<double> choose_kept(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, const Kept& kept_rows,
                           const Chosen& chosen) {
  const index_t count = kept_rows.rows.rows();
  const std::vector<double> weights = weights_of(p, kept_rows);
  const auto beside = p.beside_rows(std::vector<S>(kept_rows.rows.data(), kept_rows.rows.data() + count * p.cols()));
  const RowsInMemory candidates(rows_of<S>(p.ctx, beside.view(), count, p.cols()));
  const Context here = alone(p.ctx);
  KMeansProblem reduced{here, candidates, {}, weights, p.k};
  reduced.find_moments();
  return seed_plus_plus(reduced, seed, stream, {}, chosen);
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

Matrix<double> seed_parallel(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream, const Chosen& chosen) {
  const bool wide = p.source.type() == DType::float64;
  const Kept kept_rows =
      wide ? oversample<double>(p, seed, stream, chosen) : oversample<float>(p, seed, stream, chosen);
  if (kept_rows.rows.rows() <= p.k) return seed_plus_plus(p, seed, stream, kept_rows.rows.cview(), chosen);
  // Products of rows with scales are no numbers of float32.
  return wide || !p.scale.empty() ? choose_kept<double>(p, seed, stream, kept_rows, chosen)
                                  : choose_kept<float>(p, seed, stream, kept_rows, chosen);
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
