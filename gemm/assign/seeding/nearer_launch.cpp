#include "tallskinny/gemm/assign/seeding/nearer_launch.hpp"

#include <algorithm>

#include "tallskinny/gemm/assign/rows/launch.hpp"
#include "tallskinny/gemm/runtime/gpu/staging.hpp"

namespace ts::inline v0::assign_device {

namespace {

using assign_detail::Turns;

index_t whole_chunks(index_t candidates) { return cuda::ceil_div(candidates, cuda::heads_chunk) * cuda::heads_chunk; }

}  // namespace

DeviceChoices::DeviceChoices(const Context& ctx, cuda::NearerPlans plans, const float* rows, index_t ld, index_t d,
                             PerRow<float> squared, PerRow<const double> weights)
    : ctx_(ctx),
      plans_(std::move(plans)),
      rows_(rows),
      count_(squared.size),
      ld_(ld),
      d_(d),
      squared_(squared.data),
      weights_(weights.data),
      most_(whole_chunks(most_draws(INT32_MAX))),
      heads_(array<std::uint16_t>(ctx, count_ * plans_.columns)),
      norms_(array<cuda::SeedNorms>(ctx, count_)),
      limits_(array<std::uint16_t>(ctx, count_ * cuda::limit_columns)),
      through_(array<std::int64_t>(ctx, count_)),
      marks_(array<unsigned>(ctx, count_)),
      numbers_(array<index_t>(ctx, most_)),
      least_(array<float>(ctx, most_)),
      chunks_(array<std::uint16_t>(ctx, most_ * (plans_.columns + cuda::limit_columns))),
      signs_(array<std::uint32_t>(ctx, count_ * most_ / 32)),
      stretches_(array<cuda::SeedStretch>(ctx, most_)),
      pairs_(array<cuda::SeedPair>(ctx, most_pairs())),
      counters_(array<cuda::word64>(ctx, 2)),
      sums_(array<std::int64_t>(ctx, 2 * index_t{cuda::SeedAheadPolicy::most_blocks})),
      largest_(as<unsigned>(counters_)),
      arrivals_(largest_ + 1),
      total_(as<cuda::word64>(counters_) + 1) {
  cuda::fill_bytes(ctx.stream, counters_.data(), 0, counters_.bytes());
  cuda::launch_with<cuda::SeedHeadsPolicy>(
      ctx, plans_.heads,
      {rows_, count_, static_cast<int>(ld_), static_cast<int>(d_), static_cast<int>(plans_.columns), heads_.data(),
       as<cuda::SeedNorms>(norms_), largest_});
}

index_t DeviceChoices::most_draws(index_t centers) const noexcept {
  // Each candidate is nearer to about one in as many rows as there are centres.
  constexpr index_t for_each_center = 8, most = 8192, most_signs = index_t{1} << 31;
  return std::clamp(std::min(for_each_center * centers, most_signs / count_), index_t{cuda::heads_chunk}, most);
}

DeviceChoices::Found DeviceChoices::find(index_t candidates) {
  const index_t padded = whole_chunks(candidates);
  const auto steps = static_cast<int>(plans_.columns / 16 + 1), chunks = static_cast<int>(padded / cuda::heads_chunk),
             count = static_cast<int>(candidates);
  const auto* const norms = as<const cuda::SeedNorms>(norms_);
  auto* const pairs = as<cuda::SeedPair>(pairs_);
  auto* const stretches = as<cuda::SeedStretch>(stretches_);
  cuda::launch_with<cuda::SeedLimitsPolicy>(
      ctx_, plans_.limits, {norms, squared_, count_, static_cast<int>(d_), steps, largest_, limits_.data()});
  cuda::launch_with<cuda::SeedCandidatesPolicy>(ctx_, cuda::seed_candidates_plan(padded),
                                                {heads_.data(), norms, numbers(), count, static_cast<int>(padded),
                                                 static_cast<int>(plans_.columns), chunks_.data()});
  cuda::launch_with<cuda::HeadsTilesPolicy>(
      ctx_, plans_.tiles,
      {heads_.data(), limits_.data(), chunks_.data(), nullptr, count_, chunks, as<std::uint32_t>(signs_)});
  cuda::launch_with<cuda::SeedPairsPolicy>(
      ctx_, cuda::seed_pairs_plan(padded),
      {as<std::uint32_t>(signs_), count_, count, most_pairs(), total_, stretches, pairs});
  cuda::launch_with<cuda::SeedMeasurePolicy>(ctx_, plans_.measure,
                                             {rows_, static_cast<int>(ld_), numbers(), total_, most_pairs(), pairs});
  return {total_, stretches, pairs};
}

Turns DeviceChoices::take_turns(const assign_detail::DrawsAhead& draws) {
  const auto count = static_cast<int>(draws.count);
  const std::size_t of_outcome = sizeof(cuda::SeedOutcome),
                    of_chosen = static_cast<std::size_t>(count) * sizeof(index_t);
  cuda::Staging& staging = ctx_.stream.staging();
  staging.begin(ctx_.stream, cuda::Staging::rounded(of_outcome + of_chosen));
  const cuda::Staging::Stretch told = staging.take(of_outcome + of_chosen);
  auto* const outcome = static_cast<cuda::SeedOutcome*>(told.device);
  cuda::fill_bytes(ctx_.stream, arrivals_, 0, sizeof *arrivals_);
  cuda::launch_with<cuda::SeedAheadPolicy>(
      ctx_, cuda::seed_ahead_plan(count_, ctx_.stream.device()),
      {squared_, weights_, count_, count, draws.random.stream, draws.random.key, draws.first_number, arrivals_,
       as<long long>(sums_), as<long long>(through_), numbers(), as<float>(least_), outcome, total_,
       as<unsigned>(marks_)});
  const Found found = find(draws.count);
  cuda::launch_with<cuda::SeedGainsPolicy>(
      ctx_, cuda::seed_gains_plan(draws.count),
      {found.pairs, found.total, most_pairs(), squared_, weights_, outcome, count, as<cuda::SeedStretch>(stretches_)});
  cuda::launch_with<cuda::SeedTurnsPolicy>(
      ctx_, cuda::seed_turns_plan(draws.count),
      {found.pairs, found.stretches, found.total, most_pairs(), squared_, weights_, numbers(), as<float>(least_), count,
       static_cast<int>(draws.trials), static_cast<int>(draws.most), draws.enough,
       reinterpret_cast<index_t*>(outcome + 1), outcome, as<unsigned>(marks_)});
  cuda::Staging::download(ctx_.stream, told);
  ctx_.stream.synchronize();
  const auto& after = *static_cast<const cuda::SeedOutcome*>(told.host);
  const auto* const chosen = reinterpret_cast<const index_t*>(&after + 1);
  return {after.choices >= 0,
          {chosen, chosen + std::max(after.choices, 0)},
          static_cast<double>(after.before) / after.unit,
          static_cast<double>(after.left) / after.unit};
}

}  // namespace ts::inline v0::assign_device
