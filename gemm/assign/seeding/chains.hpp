// Chains of AFK-MC2 on a device.
#pragma once

#include <span>
#include <vector>

#include "tallskinny/gemm/assign/seeding/potential.hpp"

namespace ts::inline v0 {

/// Chains of `length` links each, one after the other. Spans have an entry for each link.
template <class S>
struct ChainLinks {
  const Rows& x;  ///< on a device, without ranks
  const SeedingUnit& unit;
  std::span<const S> squared;            ///< D^2 of each row to the centres so far
  std::span<const std::int32_t> row_of;  ///< where a link is
  std::span<const double> ratio;         ///< how likely it is proposed, times a number
  std::span<const double> uniforms;      ///< in [0, 1)
  index_t length;
};
/// The links at which chains end (Bachem, Lucic, Hassani, Krause 2016, algorithm 1), each of which sees the ends of
/// those before it as centres; only those of the first chains, if the next one ends at a centre. One launch.
/// @throws Error(out_of_memory), Error(device_failure).
template <class S>
[[nodiscard]] std::vector<std::int32_t> follow_chains(const Context& ctx, const ChainLinks<S>& of);

extern template decltype(follow_chains<float>) follow_chains<float>;
extern template decltype(follow_chains<double>) follow_chains<double>;

}  // namespace ts::inline v0
