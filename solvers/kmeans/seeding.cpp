#include "tallskinny/solvers/kmeans/seeding_detail.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_set>

#include "tallskinny/solvers/kmeans/potential_detail.hpp"

namespace ts::solvers::kmeans_detail {

namespace {

constexpr index_t rounds = 5;  ///< of k-means||
constexpr double oversampling = 0.7;

/// Streams of one restart: numbers that serve different purposes never meet.
enum Purpose : std::uint64_t { first_row = 0, draws = 1, kept = 2, priorities = 32, samples = 64 };

/// A row drawn by weight alone.
index_t draw_by_weight(const Problem& p, double uniform) {
  const index_t n = p.rows();
  if (p.weights.empty()) return std::min(n - 1, static_cast<index_t>(uniform * static_cast<double>(n)));
  double total = 0;
  for (const double w : p.weights) total += w;
  double rest = uniform * total;
  index_t last = 0;
  for (index_t i = 0; i < n; ++i) {
    if (p.weight(i) == 0) continue;
    last = i;
    rest -= p.weight(i);
    if (rest < 0) break;
  }
  return last;
}

/// Chooses centres have .. until - 1, each the best of a few draws, while the potential is above `enough`.
/// Returns how many centres there are then.
template <class S>
index_t choose(const Problem& p, Potential<S>& potential, const Random& random, index_t have, index_t until,
               double enough, Matrix<double>& centers, const Chosen& chosen) {
  const index_t trials = 2 + static_cast<index_t>(std::log(static_cast<double>(centers.rows())));
  Matrix<double> candidates(trials, p.cols());
  std::vector<double> uniforms(static_cast<std::size_t>(trials));
  for (; have < until && potential.total() > enough; ++have) {
    chosen(have);
    for (index_t q = 0; q < trials; ++q)
      uniforms[static_cast<std::size_t>(q)] = random.uniform(static_cast<std::uint64_t>(have * trials + q));
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
class Sample {
 public:
  Sample(const Problem& p, const Potential<S>& all, HostView<const double> centers, const Random& random,
         index_t size)
      : Sample(p, static_cast<double>(size) / all.total(), centers,
               all.keep(static_cast<double>(size) / all.total(), random.philox())) {}
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] Potential<S>& potential() noexcept { return potential_; }

 private:
  Sample(const Problem& p, double factor, HostView<const double> centers, const std::vector<index_t>& numbers)
      : values_(p.scale.empty() ? loaded<S>(p, numbers) : Matrix<S>()),
        scaled_(p.scale.empty() ? Matrix<double>() : loaded<double>(p, numbers)),
        rows_(p.scale.empty() ? Rows(values_.cview()) : Rows(scaled_.cview())),
        problem_{p.ctx, rows_, {}, {}, p.k, {}, p.moments},
        potential_(problem_) {
    potential_.lower(centers);
    for (const S squared : potential_.squared()) {
      const double weight = p.weight(numbers[weights_.size()]);
      const double kept = std::min(1.0, factor * (weight * static_cast<double>(squared)));
      weights_.push_back(kept > 0 ? weight / kept : 0);
    }
    problem_.weights = weights_;
    potential_.lower(centers.rows(centers.rows() - 1, 1));  // sums with these weights
  }
  template <class T>
  static Matrix<T> loaded(const Problem& p, const std::vector<index_t>& numbers) {
    Matrix<double> wide(std::ssize(numbers), p.cols());
    p.load_rows(numbers, wide.view());
    Matrix<T> values(wide.rows(), wide.cols());
    std::copy_n(wide.data(), wide.rows() * wide.cols(), values.data());
    return values;
  }

  Matrix<S> values_;       ///< S holds all numbers of the types that are seeded in it
  Matrix<double> scaled_;  ///< but not their products with scales of rows
  std::vector<double> weights_;
  RowsInMemory rows_;
  Problem problem_;
  Potential<S> potential_;
};

/// Rows in a sample; 0: there are too few rows, or they are too wide, for a sample to pay. Wherever the rows
/// are: first centres do not depend on that.
index_t sample_size(const Problem& p) {
  constexpr index_t least = index_t{1} << 14, for_each_centre = 16, most_numbers = index_t{1} << 26;
  const index_t size = std::max(least, for_each_centre * p.k);
  return p.rows() >= 4 * size && size * p.cols() <= most_numbers ? size : 0;
}

/// False if, in the precision S, all rows coincide with a centre before there are k of them.
template <class S>
bool plus_plus(const Problem& p, std::uint64_t seed, std::uint64_t stream, index_t have,
               Matrix<double>& centers, const Chosen& chosen) {
  constexpr bool last_resort = sizeof(S) == sizeof(double);
  const Random random(seed, stream + draws);
  Potential<S> potential(p);
  if (have == 0) {
    const index_t first = draw_by_weight(p, Random(seed, stream + first_row).uniform(0));
    p.load_rows({&first, 1}, centers.view().rows(0, 1));
    have = 1;
  }
  potential.lower(centers.cview().rows(0, have));
  const index_t size = sample_size(p);
  constexpr index_t first_batch = 16;
  constexpr double stale = 1.0 / 16;  // what is left of a potential when its sample has served
  for (std::uint64_t round = 0; size > 0 && have < p.k && potential.total() > 0; ++round) {
    Sample<S> sample(p, potential, centers.cview().rows(0, have),
                     Random(seed, stream + samples + round % 128), size);
    const index_t until = std::min(p.k, std::max(first_batch, 2 * have)), before = have;
    have = choose(sample.problem(), sample.potential(), random, have, until,
                  stale * sample.potential().total(), centers, chosen);
    if (have == before) break;
    potential.lower(centers.cview().rows(before, have - before));
  }
  return choose(p, potential, random, have, p.k, last_resort ? -1.0 : 0.0, centers, chosen) == p.k;
}

/// The rows that k-means|| keeps, the first of them drawn by weight.
struct Kept {
  Matrix<double> rows;
  std::vector<std::int32_t> nearest;  ///< for each row, the nearest of them
};

template <class S>
Kept oversample(const Problem& p, std::uint64_t seed, std::uint64_t stream, const Chosen& chosen) {
  Potential<S> potential(p);
  Kept kept_rows;
  // With a device, rows that come in blocks and rows that lie there must weigh the same.
  const bool tracked = p.source.space() == Space::host && !p.ctx.stream;
  if (tracked) kept_rows.nearest.resize(static_cast<std::size_t>(p.rows()));
  std::vector<index_t> picked = {draw_by_weight(p, Random(seed, stream + first_row).uniform(0))};
  const auto rows_of = [&](std::size_t from) {
    Matrix<double> out(static_cast<index_t>(picked.size() - from), p.cols());
    p.load_rows(std::span(picked).subspan(from), out.view());
    return out;
  };
  potential.lower(rows_of(0).cview(), kept_rows.nearest);
  for (index_t round = 0; round < rounds && potential.total() > 0; ++round) {
    chosen(std::min(p.k - 1, static_cast<index_t>(picked.size())));
    const Random random(seed, stream + kept + static_cast<std::uint64_t>(round));
    const double factor = oversampling * static_cast<double>(p.k) / potential.total();
    const std::size_t before = picked.size();
    const std::vector<index_t> more = potential.keep(factor, random.philox());
    picked.insert(picked.end(), more.begin(), more.end());
    if (picked.size() > before)
      potential.lower(rows_of(before).cview(), kept_rows.nearest, static_cast<std::int32_t>(before));
  }
  kept_rows.rows = rows_of(0);
  if (!tracked && kept_rows.rows.rows() > p.k) {
    kept_rows.nearest.assign(static_cast<std::size_t>(p.rows()), -1);
    assign_all(p, with_copies(kept_rows.rows.cview(), p.source.space()).cview(), Scores::float32,
               kept_rows.nearest);
  }
  return kept_rows;
}

/// When a row's clock rings, and which row it is.
using Ring = std::pair<double, index_t>;

/// Those up to `limit`, in order; clocks of rows without weight ring at infinity.
std::vector<Ring> rings_until(const Problem& p, const Random& random, double limit) {
  constexpr index_t chunk = index_t{1} << 16;
  const index_t n = p.rows();
  std::vector<std::vector<Ring>> parts(static_cast<std::size_t>((n + chunk - 1) / chunk));
  [[maybe_unused]] const int team =
      static_cast<int>(std::clamp<index_t>(std::ssize(parts), 1, p.ctx.thread_count()));
#pragma omp parallel for schedule(static) num_threads(team)
  for (index_t c = 0; c < std::ssize(parts); ++c)
    for (index_t i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i) {
      const double weight = p.weight(i);
      const double ring = weight > 0 ? -std::log1p(-random.uniform(static_cast<std::uint64_t>(i))) / weight
                                     : std::numeric_limits<double>::infinity();
      if (ring <= limit) parts[static_cast<std::size_t>(c)].emplace_back(ring, i);
    }
  std::vector<Ring> rings;
  for (const auto& part : parts) rings.insert(rings.end(), part.begin(), part.end());
  std::sort(rings.begin(), rings.end());
  return rings;
}

}  // namespace

Matrix<double> seed_plus_plus(const Problem& p, std::uint64_t seed, std::uint64_t stream,
                              HostView<const double> have, const Chosen& chosen) {
  Matrix<double> centers(p.k, p.cols());
  for (index_t m = 0; m < have.rows(); ++m)
    for (index_t j = 0; j < have.cols(); ++j) centers(m, j) = have(m, j);
  if (p.source.type() == DType::float64 || !plus_plus<float>(p, seed, stream, have.rows(), centers, chosen))
    plus_plus<double>(p, seed, stream, have.rows(), centers, chosen);
  return centers;
}

Matrix<double> seed_parallel(const Problem& p, std::uint64_t seed, std::uint64_t stream,
                             const Chosen& chosen) {
  const auto [kept_rows, nearest] = p.source.type() == DType::float64
                                        ? oversample<double>(p, seed, stream, chosen)
                                        : oversample<float>(p, seed, stream, chosen);
  const index_t count = kept_rows.rows();
  if (count <= p.k) return seed_plus_plus(p, seed, stream, kept_rows.cview(), chosen);
  // Each kept row weighs as much as the rows nearest to it.
  std::vector<double> weights(static_cast<std::size_t>(count));
  for (index_t i = 0; i < p.rows(); ++i)
    weights[static_cast<std::size_t>(nearest[static_cast<std::size_t>(i)])] += p.weight(i);
  const auto beside =
      p.beside_rows(std::vector<double>(kept_rows.data(), kept_rows.data() + count * p.cols()));
  const double* const first = beside.view().data;
  const RowsInMemory candidates{
      p.source.space() == Space::device
          ? Rows(p.ctx.stream, DeviceView<const double>::unchecked(first, count, p.cols(), p.cols()))
          : Rows(HostView<const double>(first, count, p.cols()))};
  Problem reduced{p.ctx, candidates, {}, weights, p.k};
  reduced.find_moments();
  return seed_plus_plus(reduced, seed, stream, {}, chosen);
}

Matrix<double> seed_random(const Problem& p, std::uint64_t seed, std::uint64_t stream) {
  const index_t n = p.rows(), d = p.cols();
  const Random random(seed, stream + priorities);
  double total = static_cast<double>(n);
  if (!p.weights.empty()) total = std::accumulate(p.weights.begin(), p.weights.end(), 0.0);
  Matrix<double> centers(p.k, d);
  // The first of n exponential clocks with rates w_i to ring is row i with probability w_i / sum w, and so
  // on. Only those that ring soon are looked at, and all only if there are not enough distinct rows among
  // them.
  for (double limit = (4.0 * static_cast<double>(p.k) + 100) / total;; limit *= 8) {
    const bool all = limit * total >= 4 * static_cast<double>(n);
    const std::vector<Ring> rings =
        rings_until(p, random, all ? std::numeric_limits<double>::infinity() : limit);
    index_t have = 0;
    std::unordered_set<std::string> seen;
    std::vector<index_t> copies;
    for (std::size_t at = 0; at < rings.size() && have < p.k;) {
      constexpr index_t least = 64;  // at a time
      std::vector<index_t> numbers;
      while (at < rings.size() && std::ssize(numbers) < std::max(p.k - have, least))
        numbers.push_back(rings[at++].second);
      Matrix<double> rows(std::ssize(numbers), d);
      p.load_rows(numbers, rows.view());
      for (index_t q = 0; q < rows.rows() && have < p.k; ++q) {
        double* const row = rows.data() + q * d;
        std::copy_n(row, d, centers.data() + have * d);
        for (index_t j = 0; j < d; ++j) row[j] += 0.0;  // -0.0 equals 0.0
        std::string key(static_cast<std::size_t>(d) * sizeof(double), '\0');
        std::memcpy(key.data(), row, key.size());
        if (seen.insert(std::move(key)).second)
          ++have;
        else if (std::ssize(copies) < p.k)
          copies.push_back(numbers[static_cast<std::size_t>(q)]);
      }
    }
    if (have == p.k) return centers;
    if (!all) continue;
    copies.resize(static_cast<std::size_t>(p.k - have));
    p.load_rows(copies, centers.view().rows(have, p.k - have));
    return centers;
  }
}

}  // namespace ts::solvers::kmeans_detail
