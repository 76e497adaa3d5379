#include "tallskinny/gemm/assign/seeding/nearer_launch.hpp"

#include <algorithm>
#include <cstring>

#include "tallskinny/gemm/assign/rows/launch.hpp"
#include "tallskinny/gemm/assign/rows/upload.hpp"

namespace ts::inline v0::assign_device {

namespace {

using assign_detail::NearerRow, assign_detail::NearerRows;
using Stretch = NearerRows<float>::Stretch;
static_assert(sizeof(Stretch) == sizeof(cuda::SeedStretch) && sizeof(NearerRow<float>) == sizeof(cuda::SeedPair),
              "copied as they are");

index_t whole_chunks(index_t candidates) { return cuda::ceil_div(candidates, cuda::heads_chunk) * cuda::heads_chunk; }
/// At least so many bytes; what was there is lost.
template <class T>
T* room(const Context& ctx, cuda::Memory& memory, index_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  if (memory.bytes() < bytes) memory = cuda::Memory(ctx.stream, bytes);
  return static_cast<T*>(memory.data());
}

}  // namespace

DeviceNearerRowSearch::DeviceNearerRowSearch(const Context& ctx, cuda::NearerPlans plans, const float* rows,
                                             index_t count, index_t ld, index_t d)
    : ctx_(ctx), plans_(std::move(plans)), rows_(rows), count_(count), ld_(ld), d_(d) {
  auto* const largest = room<std::uint32_t>(ctx, largest_, 1);
  cuda::fill_bytes(ctx.stream, largest, 0, sizeof(std::uint32_t));
  cuda::launch_with<cuda::SeedHeadsPolicy>(
      ctx, plans_.heads,
      {rows_, count_, static_cast<int>(ld_), static_cast<int>(d_), static_cast<int>(plans_.columns),
       room<std::uint16_t>(ctx, heads_, count_ * plans_.columns), room<cuda::SeedNorms>(ctx, norms_, count_), largest});
}

index_t DeviceNearerRowSearch::most_candidates(index_t centers) const noexcept {
  // Each candidate is nearer to about one in as many rows as there are centres.
  constexpr index_t for_each_center = 8, most = 8192, most_signs = index_t{1} << 31;
  return std::clamp(std::min(for_each_center * centers, most_signs / count_), index_t{cuda::heads_chunk}, most);
}

std::optional<NearerRows<float>> DeviceNearerRowSearch::find(std::span<const index_t> candidates,
                                                             std::span<const float> squared) {
  const index_t count = std::ssize(candidates), padded = whole_chunks(count);
  const auto steps = static_cast<int>(plans_.columns / 16 + 1), chunks = static_cast<int>(padded / cuda::heads_chunk);
  auto* const there = room<float>(ctx_, squared_, count_);
  auto* const numbers = room<index_t>(ctx_, numbers_, padded);
  auto* const limits = room<std::uint16_t>(ctx_, limits_, count_ * cuda::limit_columns);
  auto* const signs = room<std::uint32_t>(ctx_, signs_, count_ * padded / 32);
  auto* const ready = room<std::uint16_t>(ctx_, chunks_, padded * (plans_.columns + cuda::limit_columns));
  auto* const stretches = room<Stretch>(ctx_, found_, padded + 1);  // and before them how many pairs there are
  auto* const total = reinterpret_cast<cuda::word64*>(stretches);
  auto* const pairs = room<cuda::SeedPair>(ctx_, pairs_, most_pairs());
  cuda::Staging& staging = ctx_.stream.staging();
  staging.begin(ctx_.stream,
                cuda::Staging::rounded(squared.size_bytes()) + cuda::Staging::rounded(candidates.size_bytes()));
  const auto send = [&](void* to, auto from) {
    void* const pinned = staging.take(from.size_bytes()).host;
    std::memcpy(pinned, from.data(), from.size_bytes());
    cuda::copy_bytes(ctx_.stream, to, pinned, from.size_bytes());
  };
  send(there, squared), send(numbers, candidates);
  cuda::fill_bytes(ctx_.stream, total, 0, sizeof(Stretch));
  const auto* const norms = static_cast<const cuda::SeedNorms*>(norms_.data());
  cuda::launch_with<cuda::SeedLimitsPolicy>(
      ctx_, plans_.limits,
      {norms, there, count_, static_cast<int>(d_), steps, static_cast<const std::uint32_t*>(largest_.data()), limits});
  cuda::launch_with<cuda::SeedCandidatesPolicy>(ctx_, cuda::seed_candidates_plan(padded),
                                                {heads_.data(), norms, numbers, static_cast<int>(count),
                                                 static_cast<int>(padded), static_cast<int>(plans_.columns), ready});
  cuda::launch_with<cuda::HeadsTilesPolicy>(ctx_, plans_.tiles,
                                            {heads_.data(), limits, ready, nullptr, count_, chunks, signs});
  cuda::launch_with<cuda::SeedPairsPolicy>(ctx_, cuda::seed_pairs_plan(padded),
                                           {signs, count_, static_cast<int>(count), most_pairs(), total,
                                            reinterpret_cast<cuda::SeedStretch*>(stretches + 1), pairs});
  cuda::launch_with<cuda::SeedMeasurePolicy>(ctx_, plans_.measure,
                                             {rows_, static_cast<int>(ld_), numbers, total, most_pairs(), pairs});
  stretches_.resize(static_cast<std::size_t>(count) + 1);
  fetch_numbers<Stretch>(ctx_, stretches_, stretches);
  const index_t found = stretches_.front().begin;
  if (found > most_pairs()) return std::nullopt;
  const std::size_t bytes = static_cast<std::size_t>(found) * sizeof(cuda::SeedPair);
  staging.begin(ctx_.stream, cuda::Staging::rounded(bytes));
  auto* const here = static_cast<NearerRow<float>*>(staging.take(bytes).host);
  cuda::copy_bytes(ctx_.stream, here, pairs, bytes);
  ctx_.stream.synchronize();
  return NearerRows<float>{{here, static_cast<std::size_t>(found)}, std::span(stretches_).subspan(1)};
}

}  // namespace ts::inline v0::assign_device
