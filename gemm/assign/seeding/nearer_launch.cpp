#include "tallskinny/gemm/assign/seeding/nearer_launch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "tallskinny/gemm/assign/rows/launch.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"

namespace ts::inline v0::assign_device {

namespace {

using assign_detail::NearerRow, assign_detail::NearerRows;
using Stretch = NearerRows<float>::Stretch;
static_assert(sizeof(Stretch) == sizeof(cuda::SeedStretch) && sizeof(NearerRow<float>) == sizeof(cuda::SeedPair),
              "copied as they are");

index_t whole_chunks(index_t candidates) { return cuda::ceil_div(candidates, cuda::heads_chunk) * cuda::heads_chunk; }
/// At least so many numbers, on the device or page-locked; what was there is lost.
template <class T, class Room>
T* room(const Context& ctx, Room& memory, index_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
  if (memory.bytes() < bytes)
    memory = Room(ctx.stream, std::is_same_v<Room, cuda::PinnedMemory> ? std::bit_ceil(bytes) : bytes);
  return static_cast<T*>(memory.data());
}

}  // namespace

/// Page-locked memory, which takes long to get, and a stream in which pairs come while the next batch meets the rows.
struct DeviceNearerRowSearch::Host {
  struct Slot {
    cuda::PinnedMemory sent, stretches, pairs;
    cuda::Event done;
  };
  cuda::Stream copies;
  std::array<Slot, 2> slots;

  explicit Host(const cuda::Stream& stream)
      : copies(stream.another()), slots{Slot{{}, {}, {}, cuda::Event(stream)}, Slot{{}, {}, {}, cuda::Event(stream)}} {}
};

DeviceNearerRowSearch::DeviceNearerRowSearch(const Context& ctx, cuda::NearerPlans plans, const float* rows,
                                             index_t count, index_t ld, index_t d, const double* weights)
    : ctx_(ctx),
      plans_(std::move(plans)),
      rows_(rows),
      count_(count),
      ld_(ld),
      d_(d),
      weights_(weights),
      host_(ctx.stream.kept<Host>()) {
  for (const Host::Slot& slot : host_.slots) slot.done.wait();  // an interrupted search may be under way there
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

void DeviceNearerRowSearch::begin(std::span<const index_t> candidates, std::span<const float> squared) {
  const index_t count = std::ssize(candidates), padded = whole_chunks(count);
  const auto steps = static_cast<int>(plans_.columns / 16 + 1), chunks = static_cast<int>(padded / cuda::heads_chunk);
  const auto at = static_cast<std::size_t>(next_);
  Slot& slot = slots_[at];
  Host::Slot& host = host_.slots[at];
  next_ = 1 - next_, slot.candidates = count;
  const index_t most = std::max(padded, whole_chunks(most_candidates(INT32_MAX)));  // so that memory is taken once
  auto* const there = room<float>(ctx_, squared_, count_);
  auto* const numbers = room<index_t>(ctx_, numbers_, most);
  auto* const limits = room<std::uint16_t>(ctx_, limits_, count_ * cuda::limit_columns);
  auto* const signs = room<std::uint32_t>(ctx_, signs_, count_ * most / 32);
  auto* const ready = room<std::uint16_t>(ctx_, chunks_, most * (plans_.columns + cuda::limit_columns));
  auto* const stretches = room<Stretch>(ctx_, slot.found, most + 1);  // and before them how many pairs there are
  auto* const total = reinterpret_cast<cuda::word64*>(stretches);
  auto* const pairs = room<cuda::SeedPair>(ctx_, slot.pairs, most_pairs());
  char* sent = room<char>(ctx_, host.sent, static_cast<index_t>(squared.size_bytes() + candidates.size_bytes()));
  const auto send = [&](void* device, auto from) {
    std::memcpy(sent, from.data(), from.size_bytes());
    cuda::copy_bytes(ctx_.stream, device, sent, from.size_bytes());
    sent += from.size_bytes();
  };
  send(numbers, candidates), send(there, squared);
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
  cuda::launch_with<cuda::SeedGainsPolicy>(ctx_, cuda::seed_gains_plan(count),
                                           {pairs, total, most_pairs(), there, weights_, static_cast<int>(count),
                                            reinterpret_cast<cuda::SeedStretch*>(stretches + 1)});
  cuda::copy_bytes(ctx_.stream, room<Stretch>(ctx_, host.stretches, most + 1), stretches,
                   static_cast<std::size_t>(count + 1) * sizeof(Stretch));
  host.done.record(ctx_.stream);
}

std::optional<NearerRows<float>> DeviceNearerRowSearch::end() {
  const auto at = static_cast<std::size_t>(oldest_);
  oldest_ = 1 - oldest_;
  Host::Slot& host = host_.slots[at];
  host.done.wait();
  const auto* const stretches = static_cast<const Stretch*>(host.stretches.data());
  const index_t found = stretches->begin;
  if (found > most_pairs()) return std::nullopt;
  constexpr index_t least = index_t{1} << 18;  // growing page-locked memory takes long
  auto* const here = room<NearerRow<float>>(ctx_, host.pairs, std::max(found, least));
  cuda::copy_bytes(host_.copies, here, slots_[at].pairs.data(), static_cast<std::size_t>(found) * sizeof(*here));
  host_.copies.synchronize();
  return NearerRows<float>{{here, static_cast<std::size_t>(found)},
                           {stretches + 1, static_cast<std::size_t>(slots_[at].candidates)}};
}

}  // namespace ts::inline v0::assign_device
