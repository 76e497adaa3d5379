// First centres. Internal to the room.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/problem_detail.hpp"
#include "tallskinny/solvers/kmeans/seeding/potential.hpp"
#include "tallskinny/solvers/random.hpp"

namespace ts::inline v0::solvers::kmeans_detail {

/// Called with the number of centres chosen so far; throws Error(interrupted) to stop.
using SeedProgress = std::function<void(index_t)>;

/// Rows of a sample for each centre that is chosen from it, at least.
inline constexpr index_t seeding_rows_for_each = 16;
/// Draws for each of k centres, the best of which is taken.
[[nodiscard]] inline index_t seeding_trials(index_t k) {
  return std::min(most_trials, 2 + static_cast<index_t>(std::log(static_cast<double>(k))));
}

/// A row drawn by weight alone.
index_t draw_by_weight(const KMeansProblem& problem, double uniform);
/// `count` different numbers below n, in any order.
std::vector<index_t> some_rows(index_t n, index_t count, const Random& random);

/// all: the rows for which number(row here) is one, in the order of these numbers.
template <class Number>
std::vector<index_t> rows_in_order(const KMeansProblem& p, const Number& number) {
  constexpr index_t chunk = index_t{1} << 16;
  const index_t n = p.rows(), first = p.first_row();
  struct Numbered {
    double number;
    index_t row;
    auto operator<=>(const Numbered&) const = default;
  };
  std::vector<std::vector<Numbered>> parts(at((n + chunk - 1) / chunk));
  parallel_for(p.ctx.thread_count(), std::ssize(parts), [&](index_t c) {
    for (index_t i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i)
      if (const std::optional<double> found = number(i)) parts[at(c)].push_back({*found, first + i});
  });
  std::vector<Numbered> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  all = gather_lists<Numbered>(p.ctx, all);
  std::sort(all.begin(), all.end());
  std::vector<index_t> rows(all.size());
  std::transform(all.begin(), all.end(), rows.begin(), [](const Numbered& one) { return one.row; });
  return rows;
}

/// Greedy k-means++ (Arthur, Vassilvitskii 2007, sec. 3 and the greedy variant of their code): the first
/// centre is drawn by weight, each next one by w D^2, best of 2 + floor(log k) draws by remaining potential.
/// Rows are drawn and judged by a sample of seeding_sample() of them, each kept with a probability in proportion to
/// w D^2; a new one is taken whenever a sixteenth of the sample is chosen or the potential has fallen to a sixteenth.
/// `have` (0 x d or more rows) are centres already chosen.
Matrix<double> seed_plus_plus(const KMeansProblem& problem, std::uint64_t seed, std::uint64_t stream,
                              HostView<const double> have, const SeedProgress& report);

/// k-means|| (Bahmani, Moseley, Vattani, Kumar, Vassilvitskii 2012): five rounds that keep each row with
/// probability min(1, k / 2 w D^2 / potential), then weighted k-means++ on the rows kept. Of many rows the rounds see
/// a sample of rounds_sample(): half of them kept by w D^2 to the first centre, half by w alone. If the potential falls
/// to a sixteenth, all rows meet what was kept so far, and there is a new sample.
Matrix<double> seed_parallel(const KMeansProblem& problem, std::uint64_t seed, std::uint64_t stream,
                             const SeedProgress& report);
/// 16 rows for each that is kept, 16384 at least; all rows where that would not be much less.
[[nodiscard]] index_t rounds_sample(index_t rows, index_t cols, index_t clusters);

/// k distinct rows without replacement, by weight (Efraimidis, Spirakis 2006); copies of rows only when there
/// are fewer than k distinct ones.
Matrix<double> seed_random(const KMeansProblem& problem, std::uint64_t seed, std::uint64_t stream);

}  // namespace ts::inline v0::solvers::kmeans_detail
