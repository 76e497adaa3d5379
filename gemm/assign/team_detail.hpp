// How a pass over the rows is shared among threads.
#pragma once

#include <algorithm>
#include <vector>

#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/cpu/rows.hpp"

namespace ts::assign_detail {

/// Threads for `pieces` pieces of work of `products` multiplications each: small problems stay on one, where
/// starting a team would take longer than the work.
[[nodiscard]] inline int team_size(const Context& ctx, index_t pieces, double products) noexcept {
  constexpr double worth_a_thread = 1 << 18;
  const double deserved = 1 + static_cast<double>(pieces) * products / worth_a_thread;
  const double most = static_cast<double>(std::min<index_t>(pieces, ctx.thread_count()));
  return static_cast<int>(std::max(1.0, std::min(deserved, most)));
}

/// Calls work(piece, sums, scratch) for every piece, each thread with a pass.scratch() and sums of its own;
/// these are fixed-point, so merging them gives the same bits whoever did what.
template <class Pass, class Work>
AssignStats for_each_piece(int team, const Pass& pass, index_t pieces, ClusterSums* sums, const Work& work) {
  std::vector<typename Pass::Scratch> scratch;
  std::vector<ClusterSums> parts;
  for (int t = 0; t < team; ++t) {
    scratch.push_back(pass.scratch());
    if (sums != nullptr && t > 0) parts.emplace_back(sums->clusters(), sums->cols());
  }
  parallel_pieces(team, pieces, [&](index_t p, int thread) {
    const auto t = static_cast<std::size_t>(thread);
    work(p, sums == nullptr || t == 0 ? sums : &parts[t - 1], scratch[t]);
  });
  AssignStats stats;
  for (const auto& s : scratch) stats += s.stats;
  for (const ClusterSums& part : parts) sums->merge(part);
  return stats;
}

}  // namespace ts::assign_detail
