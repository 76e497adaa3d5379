#include "tallskinny/solvers/kmeans/seeding_detail.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_set>

#include "tallskinny/solvers/kmeans/potential_detail.hpp"

namespace ts::solvers::kmeans_detail {

namespace {

constexpr index_t rounds = 5;  ///< of k-means||
constexpr double oversampling = 2;

/// Streams of one restart: numbers that serve different purposes never meet.
enum Purpose : std::uint64_t { first_row = 0, draws = 1, kept = 2, priorities = 32 };

void copy_row(const Problem& p, index_t i, HostView<double> to, index_t m) {
  std::vector<double> row(static_cast<std::size_t>(p.cols()));
  p.load(i, row.data());
  for (index_t j = 0; j < p.cols(); ++j) to(m, j) = row[static_cast<std::size_t>(j)];
}

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

/// False if, in the precision S, all rows coincide with a centre before there are k of them.
template <class S>
bool plus_plus(const Problem& p, std::uint64_t seed, std::uint64_t stream, index_t have,
               Matrix<double>& centers, const Chosen& chosen) {
  constexpr bool last_resort = sizeof(S) == sizeof(double);
  const Random random(seed, stream + draws);
  const index_t trials = 2 + static_cast<index_t>(std::log(static_cast<double>(p.k)));
  Potential<S> potential(p);
  if (have == 0) {
    copy_row(p, draw_by_weight(p, Random(seed, stream + first_row).uniform(0)), centers.view(), 0);
    have = 1;
  }
  potential.lower(centers.cview().rows(0, have));
  Matrix<double> candidates(trials, p.cols());
  for (index_t m = have; m < p.k; ++m) {
    if (!last_resort && potential.total() == 0) return false;
    chosen(m);
    for (index_t q = 0; q < trials; ++q)
      copy_row(p, potential.draw(random.uniform(static_cast<std::uint64_t>(m * trials + q))),
               candidates.view(), q);
    const std::vector<double> totals = potential.totals_with(candidates.cview());
    const auto best = std::min_element(totals.begin(), totals.end()) - totals.begin();
    std::copy_n(candidates.data() + best * p.cols(), p.cols(), centers.data() + m * p.cols());
    potential.lower(candidates.cview().rows(best, 1));
  }
  return true;
}

/// The rows that five rounds of k-means|| keep, the first of them drawn by weight.
template <class S>
Matrix<double> oversample(const Problem& p, std::uint64_t seed, std::uint64_t stream, const Chosen& chosen) {
  const index_t n = p.rows(), d = p.cols();
  Potential<S> potential(p);
  std::vector<index_t> picked = {draw_by_weight(p, Random(seed, stream + first_row).uniform(0))};
  const auto rows_of = [&](std::size_t from) {
    Matrix<double> out(static_cast<index_t>(picked.size() - from), d);
    for (std::size_t q = from; q < picked.size(); ++q)
      copy_row(p, picked[q], out.view(), static_cast<index_t>(q - from));
    return out;
  };
  potential.lower(rows_of(0).cview());
  for (index_t round = 0; round < rounds && potential.total() > 0; ++round) {
    chosen(std::min(p.k - 1, static_cast<index_t>(picked.size())));
    const Random random(seed, stream + kept + static_cast<std::uint64_t>(round));
    const double factor = oversampling * static_cast<double>(p.k) / potential.total();
    const std::size_t before = picked.size();
    constexpr index_t chunk = index_t{1} << 16;
    std::vector<std::vector<index_t>> parts(static_cast<std::size_t>((n + chunk - 1) / chunk));
    const int team = static_cast<int>(std::clamp<index_t>(std::ssize(parts), 1, p.ctx.thread_count()));
#pragma omp parallel for schedule(static) num_threads(team)
    for (index_t c = 0; c < std::ssize(parts); ++c)
      for (index_t i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i) {
        const double probability = factor * potential.value(i);
        if (probability > 0 && random.uniform(static_cast<std::uint64_t>(i)) < probability)
          parts[static_cast<std::size_t>(c)].push_back(i);
      }
    for (const auto& part : parts) picked.insert(picked.end(), part.begin(), part.end());
    if (picked.size() > before) potential.lower(rows_of(before).cview());
  }
  return rows_of(0);
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
  const Matrix<double> kept_rows = p.source.type() == DType::float64
                                       ? oversample<double>(p, seed, stream, chosen)
                                       : oversample<float>(p, seed, stream, chosen);
  const index_t count = kept_rows.rows();
  if (count <= p.k) return seed_plus_plus(p, seed, stream, kept_rows.cview(), chosen);
  // Each kept row weighs as much as the rows nearest to it.
  std::vector<std::int32_t> labels(static_cast<std::size_t>(p.rows()), -1);
  assign_all(p, kept_rows.cview(), Scores::float32, labels);
  std::vector<double> weights(static_cast<std::size_t>(count));
  for (index_t i = 0; i < p.rows(); ++i)
    weights[static_cast<std::size_t>(labels[static_cast<std::size_t>(i)])] += p.weight(i);
  const RowsInMemory candidates{Rows(kept_rows.cview())};
  Problem reduced{p.ctx, candidates, {}, weights, p.k};
  reduced.find_moments();
  return seed_plus_plus(reduced, seed, stream, {}, chosen);
}

Matrix<double> seed_random(const Problem& p, std::uint64_t seed, std::uint64_t stream) {
  const index_t n = p.rows(), d = p.cols();
  const Random random(seed, stream + priorities);
  // The first of n exponential clocks with rates w_i to ring is row i with probability w_i / sum w, and so
  // on.
  std::vector<std::pair<double, index_t>> rings(static_cast<std::size_t>(n));
#pragma omp parallel for schedule(static) num_threads(p.ctx.thread_count())
  for (index_t i = 0; i < n; ++i)
    rings[static_cast<std::size_t>(i)] = {
        p.weight(i) > 0 ? -std::log1p(-random.uniform(static_cast<std::uint64_t>(i))) / p.weight(i)
                        : std::numeric_limits<double>::infinity(),
        i};
  Matrix<double> centers(p.k, d);
  std::vector<double> row(static_cast<std::size_t>(d));
  std::unordered_set<std::string> seen;
  std::vector<index_t> copies;
  index_t have = 0;
  const auto later = [](const auto& a, const auto& b) { return a > b; };
  std::make_heap(rings.begin(), rings.end(), later);
  for (auto end = rings.end(); end != rings.begin() && have < p.k; --end) {
    std::pop_heap(rings.begin(), end, later);
    const index_t i = (end - 1)->second;
    p.load(i, row.data());
    for (double& value : row) value += 0.0;  // -0.0 equals 0.0
    std::string key(row.size() * sizeof(double), '\0');
    std::memcpy(key.data(), row.data(), key.size());
    if (!seen.insert(std::move(key)).second) {
      if (static_cast<index_t>(copies.size()) < p.k) copies.push_back(i);
      continue;
    }
    copy_row(p, i, centers.view(), have++);
  }
  for (std::size_t q = 0; have < p.k; ++q) copy_row(p, copies[q], centers.view(), have++);
  return centers;
}

}  // namespace ts::solvers::kmeans_detail
