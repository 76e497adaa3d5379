#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"

#include <algorithm>
#include <bit>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"

namespace ts::inline v0::cuda {

namespace {

/// What a row costs all lanes, in columns.
index_t cost_of(const SumsAddPolicy& p) {
  constexpr index_t row_cost = 2;  // what a row costs a lane beside its columns
  return index_t{p.slabs()} * p.team() * (p.columns() + row_cost);
}

}  // namespace

KernelPlan sums_sort_plan(bool put, index_t clusters, index_t moves, const DeviceInfo& device) {
  // Enough moves for a block that its counters do not cost more than they do.
  constexpr index_t least_moves = 4096, clusters_a_move = 4, few_clusters = 64;
  const index_t bytes = clusters * SumsSortPolicy::counter_bytes;
  const bool shared = bytes + 1024 <= device.shared_bytes_per_block;
  const index_t stretch = shared ? std::max(least_moves, clusters / clusters_a_move) : least_moves;
  KernelPlan plan = kmeans_plan_of("sums_sort", SumsSortPolicy{put, shared, clusters <= few_clusters});
  plan.grid = grid_of(ceil_div(moves, stretch), 2 * device.multiprocessors);
  plan.block = SumsSortPolicy::threads;
  plan.shared_bytes = at(shared ? bytes : 0);
  plan.budget = {64, 0};
  return plan;
}

KernelPlan sums_add_plan(const RowsForm& p, bool weighed, index_t entries, const DeviceInfo& device) {
  constexpr index_t most_columns = 4;
  const auto size = static_cast<index_t>(size_of(p.type));
  Piece piece{1, static_cast<int>(size)};
  if (p.plain) piece = widest_piece(at(size), {Layout::row_major, false, p.alignment}, p.d);
  piece.count = std::min(piece.count, static_cast<int>(most_columns));
  piece.alignment = std::min(piece.alignment, piece.count * static_cast<int>(size));
  SumsAddPolicy policy{p.type, static_cast<int>(p.d), p.plain, piece.count, piece.alignment};
  for (SumsAddPolicy other = policy; (++other.pieces) * piece.count <= most_columns;)
    if (cost_of(other) < cost_of(policy)) policy = other;
  // What registers hold: of float32, a multiprocessor has 48 KiB under way.
  const index_t fewer = p.plain && !(weighed && p.type == DType::float64) ? 4 : 2;
  constexpr index_t more = 6;
  const bool fours = piece.count == most_columns && !weighed;
  policy.rows = static_cast<int>(fours ? more : fewer), policy.weighed = weighed, policy.ahead = fours && size == 2;
  KernelPlan plan = kmeans_plan_of("sums_add", policy);
  plan.grid =
      grid_of(ceil_div(ceil_div(entries, policy.least_stretch) * policy.slabs() * policy.team(), policy.threads),
              policy.blocks_at_once * device.multiprocessors);
  plan.block = policy.threads;
  plan.budget = {65536 / (policy.threads * policy.blocks_at_once) / 8 * 8, 0};
  return plan;
}

}  // namespace ts::inline v0::cuda
