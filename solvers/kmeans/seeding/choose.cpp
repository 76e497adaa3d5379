#include "tallskinny/solvers/kmeans/seeding/choose.hpp"

#include <utility>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"

namespace ts::inline v0::assign_detail {

namespace {

constexpr int numbers_of_call = 24;     // bits of random numbers before those of a call with the next first_number
constexpr std::int32_t no_number = -1;  // of a candidate

}  // namespace

SeedRows choose_rows(BatchedChoices& batches, const Choosing& how) {
  SeedRows seeds;
  const auto centers = static_cast<index_t>(how.first_number) / how.trials;
  std::uint64_t numbers = how.first_number << numbers_of_call;
  index_t room = INT32_MAX;  // draws whose pairs find room
  // The number of centres so far suggests how many choices leave most of the potential.
  auto wanted = static_cast<index_t>(how.first_number / 4);
  while (std::ssize(seeds.rows) < how.most) {
    const index_t choices = how.most - std::ssize(seeds.rows), draws = choices * how.trials;
    const auto [least, most] = batches.best_draws(centers + std::ssize(seeds.rows));
    wanted = std::max(std::min(std::clamp(wanted, least, std::max(least, most)), room), how.trials);
    const index_t count = std::min(wanted, draws + draws / 8 + 1);
    const ChoiceRounds rounds = batches.run_rounds({count, how.trials, choices, how.enough, how.random, numbers});
    numbers += static_cast<std::uint64_t>(2 * count);
    if (!rounds.found) {
      if (count <= how.trials) break;
      room = count / 2;
      continue;
    }
    seeds.rows.insert(seeds.rows.end(), rounds.rows.begin(), rounds.rows.end());
    seeds.left = rounds.left;
    if (how.report) how.report(std::ssize(seeds.rows));
    if (!(seeds.left > how.enough) || rounds.rows.empty()) break;
    // A batch should leave half to three quarters: less, and draws are in vain; more, and batches are many.
    if (rounds.left >= 0.75 * rounds.before)
      wanted *= 2;
    else if (rounds.left < 0.5 * rounds.before)
      wanted /= 2;
  }
  return seeds;
}

HostChoices::HostChoices(const Context& ctx, const Rows& x, const ColumnMoments& moments, std::span<double> squared,
                         std::span<const double> weights)
    : ctx_(ctx),
      squared_(squared),
      weights_(weights),
      search_(ctx, x, moments),
      through_(squared.size()),
      candidate_of_(squared.size(), no_number) {}

void HostChoices::sum_up() {
  const index_t n = std::ssize(squared_), chunks = chunk_count(n);
  const int team = team_size(ctx_, chunks, 8 * chunk_rows);
  const auto for_chunk = [&](index_t c, const auto& use) {
    for (index_t i = c * chunk_rows; i < std::min(n, (c + 1) * chunk_rows); ++i) use(i);
  };
  std::vector<double> largest(at(chunks));
  parallel_for(team, chunks, [&](index_t c) {
    double most = 0;
    for_chunk(c, [&](index_t i) { most = std::max(most, weight(i) * squared(i)); });
    largest[at(c)] = most;
  });
  unit_ = PotentialUnit(largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end()), n);
  std::vector<std::int64_t> before(at(chunks));
  const auto sum_chunk = [&](index_t c) {
    std::int64_t sum = before[at(c)];
    for_chunk(c, [&](index_t i) { through_[at(i)] = sum += unit_.units(weight(i), squared(i)); });
    return sum;
  };
  parallel_for(team, chunks, [&](index_t c) { before[at(c)] = sum_chunk(c); });
  std::int64_t all = 0;
  for (std::int64_t& sum : before) sum = std::exchange(all, all + sum);
  parallel_for(team, chunks, [&](index_t c) { sum_chunk(c); });
}

std::vector<HostChoices::Draw> HostChoices::draw(const DrawsAhead& ahead) const {
  std::vector<Draw> draws(at(ahead.count));
  const std::int64_t total = through_.back();
  const auto random = [&](index_t number) {
    return ahead.random.uniform(ahead.first_number + static_cast<std::uint64_t>(number));
  };
  constexpr double products = 64;  // about as long as one draw takes
  parallel_for(team_size(ctx_, ahead.count, products), ahead.count, [&](index_t q) {
    const auto passes = static_cast<std::int64_t>(random(2 * q) * static_cast<double>(total));
    const auto place = std::upper_bound(through_.begin(), through_.end(), std::min(passes, total - 1));
    const index_t row = place - through_.begin();
    draws[at(q)] = {row, random(2 * q + 1) * squared(row)};
  });
  return draws;
}

/// Each row once.
std::vector<index_t> HostChoices::candidates_of(std::vector<Draw>& draws) {
  std::vector<index_t> rows;
  rows.reserve(draws.size());
  for (Draw& draw : draws) {
    std::int32_t& candidate = candidate_of_[at(draw.row)];
    if (candidate == no_number) candidate = static_cast<std::int32_t>(rows.size()), rows.push_back(draw.row);
    draw.candidate = candidate;
  }
  for (const index_t row : rows) candidate_of_[at(row)] = no_number;
  return rows;
}

std::int64_t HostChoices::gain_of(std::span<const NearerRow> nearer) const {
  std::int64_t sum = 0;
  for (const NearerRow& near : nearer)
    sum += unit_.units(weight(near.row), std::max(0.0, squared(near.row) - near.squared));
  return sum;
}

ChoiceRounds HostChoices::run_rounds(const DrawsAhead& ahead) {
  sum_up();
  ChoiceRounds rounds;
  std::int64_t left = through_.empty() ? 0 : through_.back();
  rounds.before = rounds.left = unit_.value(left);
  const std::int64_t enough = ahead.enough < rounds.left ? unit_.units(1, ahead.enough) : left;
  if (left <= enough) return rounds;
  std::vector<Draw> draws = draw(ahead);
  const std::vector<index_t> candidates = candidates_of(draws);
  const NearerRows found = search_.find(candidates, squared_);
  std::vector<std::int64_t> gains(candidates.size());
  const index_t each = std::ssize(found.all) / std::ssize(candidates) + 1;
  parallel_for(team_size(ctx_, std::ssize(candidates), static_cast<double>(8 * each)), std::ssize(candidates),
               [&](index_t q) { gains[at(q)] = gain_of(found.of(q)); });
  std::vector<Taken> taken;
  for (const Draw& draw : draws) {
    if (std::ssize(rounds.rows) == ahead.most || left <= enough) break;
    if (!(draw.least < squared(draw.row))) continue;
    taken.push_back({draw.row, found.of(draw.candidate), gains[at(draw.candidate)]});
    if (std::ssize(taken) < ahead.trials) continue;
    left -= choose_best(taken, rounds.rows);
    taken.clear();
  }
  rounds.left = unit_.value(left);
  return rounds;
}

/// The one with the largest gain, which it returns; of several the first. D^2 only falls, and so do gains: those that
/// were smaller in the search are not summed up again.
std::int64_t HostChoices::choose_best(std::vector<Taken>& taken, std::vector<index_t>& seeds) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  order.reserve(taken.size());
  for (std::size_t q = 0; q < taken.size(); ++q) order.emplace_back(-taken[q].most_gain, q);
  std::sort(order.begin(), order.end());
  std::pair<std::int64_t, std::size_t> best{1, 0};  // less its gain, and which one
  for (const auto& [less, q] : order) {
    if (less > best.first) break;
    best = std::min(best, {-gain_of(taken[q].nearer), q});
  }
  for (const NearerRow& near : taken[best.second].nearer) {
    double& kept = squared_[at(near.row)];
    kept = std::min(kept, near.squared);
  }
  seeds.push_back(taken[best.second].row);
  return -best.first;
}

}  // namespace ts::inline v0::assign_detail
