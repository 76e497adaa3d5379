// Rows that move from cluster to cluster: their sums, cluster by cluster, and how a pass that adds to sums is shared
// among threads. Internal to the room.
#pragma once

#include <span>
#include <vector>

#include "tallskinny/gemm/cpu/rows.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/cluster_sums.hpp"

namespace ts::inline v0::assign_detail {

using assign_cpu::MovedRow;

/// Sums of so many bytes stay in no cache while rows move between them, and those of each thread would be cleared and
/// added up in every pass. Then rows wait for the end of the pass.
[[nodiscard]] inline bool moves_wait(const ClusterSums& sums) noexcept {
  constexpr index_t least_bytes = index_t{1} << 20;
  return sums.clusters() * sums.cols() * 16 >= least_bytes;
}

/// Moves rows one by one.
void move_rows(const assign_cpu::AssignKernels& kernels, const Rows& x, const double* shift, const FixedPoint& unit,
               std::span<const MovedRow> rows, ClusterSums& sums);
/// Moves the rows of all lists, cluster by cluster. Sums are exact, so that their bits do not depend on the order.
/// @param shift of centred rows, @param unit of the sums
void move_rows(int threads, const assign_cpu::AssignKernels& kernels, const Rows& x, const double* shift,
               const FixedPoint& unit, std::span<const std::vector<MovedRow>> lists, ClusterSums& sums);

/// Calls work(piece, sums, scratch) for every piece, each thread with a pass.scratch() and sums of its own;
/// these are fixed-point, so merging them gives the same bits whoever did what. Passes may list rows that move in
/// s.moved: they move after each piece, or, where moves_wait(), in apply_moves(), which comes last. Returns what
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
    if (waits) pass.apply_moves(team, scratch, *sums);
  return scratch;
}

}  // namespace ts::inline v0::assign_detail
