// First centres that are rows drawn at random.
#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "tallskinny/solvers/kmeans/seeding/seeding_detail.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

namespace {

/// Streams of one restart, others than those of other ways of seeding.
enum RandomPurpose : std::uint64_t { drawn = 16, priorities = 32 };

/// The rows whose clocks ring until `limit`, in this order; clocks of rows without weight ring at infinity.
std::vector<index_t> rings_until(const KMeansProblem& p, const Random& random, double limit) {
  const index_t first = p.first_row();
  return rows_in_order(p, [&](index_t i) {
    const double weight = p.weight(i);
    const double ring = weight > 0 ? -std::log1p(-random.uniform(static_cast<std::uint64_t>(first + i))) / weight : inf;
    return ring <= limit ? std::optional(ring) : std::nullopt;
  });
}

/// A number of the row's that equal rows share (-0.0 equals 0.0).
std::uint64_t hash_of(const double* row, index_t d) {
  std::uint64_t hash = 0;
  for (index_t j = 0; j < d; ++j)
    hash = (std::rotl(hash, 5) ^ std::bit_cast<std::uint64_t>(row[j] + 0.0)) * 0x9e3779b97f4a7c15U;
  return hash;
}

/// Makes the first distinct of these rows, in this order, the centres. Returns copies of some of them, as
/// many as centres are missing: nothing if there are enough distinct rows.
std::vector<index_t> take_distinct(const KMeansProblem& p, std::span<const index_t> order, Matrix<double>& centers) {
  constexpr index_t least = 64;                       // rows at a time
  constexpr index_t worth_a_team = index_t{1} << 18;  // numbers
  const index_t d = p.cols();
  index_t have = 0;
  std::unordered_multimap<std::uint64_t, index_t> seen;  // centres by their hashes
  std::vector<index_t> copies;
  std::vector<std::uint64_t> hashes;
  while (!order.empty() && have < p.k) {
    const std::span<const index_t> numbers = order.first(std::min(order.size(), at(std::max(p.k - have, least))));
    order = order.subspan(numbers.size());
    // Rows that fit are written to their final place, if none is a copy.
    const index_t count = std::ssize(numbers);
    Matrix<double> apart(count > p.k - have ? count : 0, d);
    const HostView<double> rows = apart.empty() ? centers.view().rows(have, count) : apart.view();
    p.load_rows(numbers, rows);
    hashes.resize(numbers.size());
    const int team = count * d < worth_a_team ? 1 : p.ctx.thread_count();
    parallel_for(team, count, [&](index_t q) { hashes[at(q)] = hash_of(rows.data() + q * d, d); });
    for (index_t q = 0; q < count && have < p.k; ++q) {
      const double* const row = rows.data() + q * d;
      const auto [begin, end] = seen.equal_range(hashes[at(q)]);
      if (std::any_of(begin, end, [&](const auto& m) { return std::equal(row, row + d, &centers(m.second, 0)); })) {
        if (std::ssize(copies) < p.k) copies.push_back(numbers[at(q)]);
        continue;
      }
      seen.emplace(hashes[at(q)], have);
      double* const to = centers.data() + have++ * d;
      if (to != row) std::copy_n(row, d, to);
    }
  }
  copies.resize(at(p.k - have));
  return copies;
}

}  // namespace

Matrix<double> seed_random(const KMeansProblem& p, std::uint64_t seed, std::uint64_t stream) {
  const index_t n = p.all_rows();
  Matrix<double> centers(p.k, p.cols());
  // Without weights, draws without repeated ones are in the same order, and mostly few are repeated.
  if (!p.weighted() && p.k <= n / 8 &&
      take_distinct(p, some_rows(n, 2 * p.k, Random(seed, stream + drawn)), centers).empty())
    return centers;
  const Random random(seed, stream + priorities);
  const double total = p.total_weight();
  // The first of n exponential clocks with rates w_i to ring is row i with probability w_i / sum w, and so
  // on. Only those that ring soon are looked at, and all only if there are not enough distinct rows among
  // them.
  for (double limit = (4.0 * static_cast<double>(p.k) + 100) / total;; limit *= 8) {
    const bool all = limit * total >= 4 * static_cast<double>(n);
    const std::vector<index_t> missing = take_distinct(p, rings_until(p, random, all ? inf : limit), centers);
    if (!missing.empty() && !all) continue;
    p.load_rows(missing, centers.view().rows(p.k - std::ssize(missing), std::ssize(missing)));
    return centers;
  }
}

}  // namespace ts::inline v0::solvers::kmeans_detail
