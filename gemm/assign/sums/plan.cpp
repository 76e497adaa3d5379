#include "tallskinny/gemm/assign/sums/plan.hpp"

#include <algorithm>
#include <bit>

#include "tallskinny/gemm/assign/rows/plan.hpp"
#include "tallskinny/gemm/device/geometry.hpp"

namespace ts::cuda {

namespace {

/// How the columns of a row are shared: the lanes of a team have `pieces` loads each, as often as that takes.
struct Sharing {
  index_t pieces, team, slabs, cost;

  Sharing(index_t d, index_t piece, index_t of_a_lane) : pieces(of_a_lane) {
    constexpr index_t row_cost = 2;  // what a row costs a lane beside its columns, in columns
    const auto lanes = static_cast<std::uint64_t>(ceil_div(d, piece * pieces));
    team = static_cast<index_t>(std::min<std::uint64_t>(32, std::bit_ceil(lanes)));
    slabs = ceil_div(d, team * pieces * piece);
    cost = slabs * team * (pieces * piece + row_cost);
  }
  [[nodiscard]] static Sharing best(index_t d, index_t piece, index_t most_columns) {
    Sharing best(d, piece, 1);
    for (index_t pieces = 2; pieces * piece <= most_columns; ++pieces) {
      const Sharing other(d, piece, pieces);
      if (other.cost < best.cost) best = other;
    }
    return best;
  }
};

}  // namespace

KernelPlan sums_sort_plan(SumsTask task, index_t clusters, index_t moves, const DeviceInfo& device) {
  // Enough moves for a block that its counters do not cost more than they do.
  constexpr index_t threads = 1024, least_moves = 4096, clusters_a_move = 4;
  const index_t bytes = clusters * static_cast<index_t>(sizeof(std::uint32_t));
  const bool shared = bytes + 1024 <= device.shared_bytes_per_block;
  const index_t stretch = shared ? std::max(least_moves, clusters / clusters_a_move) : least_moves;
  KernelPlan plan;
  plan.family = "sums_sort";
  plan.defines = {define(DType::float32), define("TS_ORDER", task == SumsTask::order ? 1 : 0),
                  define("TS_SHARED", shared ? 1 : 0)};
  plan.grid = grid_of(ceil_div(moves, stretch), 2 * device.multiprocessors);
  plan.block = threads;
  plan.shared_bytes = static_cast<std::size_t>(shared ? bytes : 0);
  plan.budget = {64, 0};
  return plan;
}

KernelPlan sums_places_plan(index_t clusters) {
  constexpr index_t threads = 256;
  KernelPlan plan;
  plan.family = "sums_places";
  plan.defines = {define(DType::float32)};
  plan.grid = grid_of(ceil_div(clusters, threads), INT32_MAX);
  plan.block = threads;
  plan.budget = {32, 0};
  return plan;
}

KernelPlan assign_means_plan(bool move, index_t clusters) {
  return assign_threads_plan("assign_means", DType::float64, {define("TS_MOVE", move ? 1 : 0)},
                             32 * clusters);
}

KernelPlan sums_add_plan(const RowsForm& p, bool weighed, index_t entries, const DeviceInfo& device) {
  constexpr index_t threads = 256, blocks = 2, most_columns = 4, least_stretch = 16;
  const auto size = static_cast<index_t>(size_of(p.type));
  Piece piece{1, static_cast<int>(size)};
  if (p.plain)
    piece = widest_piece(static_cast<std::size_t>(size), {Layout::row_major, false, p.alignment}, p.d);
  piece.count = std::min(piece.count, static_cast<int>(most_columns));
  piece.alignment = std::min(piece.alignment, piece.count * static_cast<int>(size));
  const Sharing sharing = Sharing::best(p.d, piece.count, most_columns);
  // What registers have room for: of float32, a multiprocessor has 48 KiB under way.
  const index_t fewer = p.plain && !(weighed && p.type == DType::float64) ? 4 : 2;
  const index_t more = size == 2 ? 8 : 6;
  const index_t rows = piece.count == most_columns && !weighed ? more : fewer;
  KernelPlan plan;
  plan.family = "sums_add";
  plan.defines = {define(p.type),
                  define("TS_D", p.d),
                  define("TS_PLAIN", p.plain ? 1 : 0),
                  define("TS_COUNT", piece.count),
                  define("TS_ALIGN", piece.alignment),
                  define("TS_PIECES", sharing.pieces),
                  define("TS_ROWS", rows),
                  define("TS_WEIGHED", weighed ? 1 : 0)};
  plan.grid = grid_of(ceil_div(ceil_div(entries, least_stretch) * sharing.slabs * sharing.team, threads),
                      blocks * device.multiprocessors);
  plan.block = threads;
  plan.budget = {static_cast<int>(65536 / (threads * blocks) / 8 * 8), 0};
  return plan;
}

}  // namespace ts::cuda
