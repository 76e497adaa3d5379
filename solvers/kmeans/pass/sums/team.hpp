// How a pass over the rows that adds to sums is shared among threads.
#pragma once

#include <vector>

#include "tallskinny/gemm/cpu/rows.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/moved_rows.hpp"

namespace ts::inline v0::assign_detail {

/// Calls work(piece, sums, scratch) for every piece, each thread with a pass.scratch() and sums of its own;
/// these are fixed-point, so merging them gives the same bits whoever did what. Passes may list rows that move in
/// s.moved: they move after each piece, or, where moves_wait(), in settle_moves(), which comes last. Returns what
/// threads had.
template <class Pass, class Work>
auto for_each_piece(int team, const Pass& pass, index_t pieces, ClusterSums* sums, const Work& work) {
  std::vector<typename Pass::Scratch> scratch;
  std::vector<ClusterSums> parts;
  constexpr bool can_wait = requires { scratch.front().moved; };
  const bool waits = can_wait && sums != nullptr && moves_wait(*sums);
  for (int t = 0; t < team; ++t) {
    scratch.push_back(pass.scratch());
    if (sums != nullptr && t > 0 && !waits) parts.emplace_back(sums->clusters(), sums->cols());
  }
  parallel_pieces(team, pieces, [&](index_t p, int thread) {
    const auto t = at(thread);
    ClusterSums* const own = parts.empty() || t == 0 ? sums : &parts[t - 1];
    work(p, own, scratch[t]);
    if constexpr (can_wait)
      if (!waits) pass.move_now(own, scratch[t]);
  });
  for (const ClusterSums& part : parts) sums->merge(part);
  if constexpr (can_wait)
    if (waits) pass.settle_moves(team, scratch, *sums);
  return scratch;
}

}  // namespace ts::inline v0::assign_detail
