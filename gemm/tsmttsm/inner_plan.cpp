#include "tallskinny/gemm/tsmttsm/inner_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/tsmttsm/inner_shape.hpp"

namespace ts::cuda {
namespace {

constexpr int brief_ring_kib = 96;  ///< more makes blocks finish at different times
/// A brief product has at least so many chunks where its rows suffice.
constexpr index_t brief_chunks = 64;
/// Steps of 16 rows after which sums in float32 move to float64, and up to how many they need not.
constexpr int flush_steps = 64;
constexpr int longest_float_sum = 96;

/// Bytes of a chunk of long operands, where there is room.
constexpr int shortest_chunk = 30 * 1024;

/// Rows of a batch of the warpgroup kernels.
constexpr int warpgroup_batch = 32;
/// Bytes for the barriers of a narrow Gram matrix, beyond the 128 that all kernels have.
constexpr int gram_barrier_bytes = 128;

/// TS_MODE_..: columns of at least a KiB are copied in bulk.
int mode_of(const TallLayout& s, int chunk, const BlockLimits& limits) {
  constexpr int in_bulk = 3;
  const bool long_columns =
      s.mode == TallMode::by_columns && s.unit == 16 && limits.bulk_copies && chunk * s.parts * s.scalar >= 1024;
  return long_columns ? in_bulk : static_cast<int>(s.mode);
}

/// Chunks of so many rows, which so many slices share.
struct Ring {
  int slices, rows, chunks;
};

/// As much as may be asked for, by three chunks or by two, which wait for each other; rather by fewer slices,
/// which are warps, than much too little. 32 KiB are less than their neighbours, for a reason that is not
/// known.
template <class Bytes, class Unit>
Ring ring_of(const InnerTiling& t, int room, Ring ring, const Bytes& bytes_of, const Unit& unit_of) {
  const auto [quick, kib] = t.requests;
  double best = 0, less = 0;
  for (int slices = t.slices; slices * t.tiles >= 4; slices /= 2, less += (4 + 20 * t.busy) * 1024)
    for (int rows = unit_of(slices); 2 * bytes_of(rows) <= room; rows += unit_of(slices))
      for (const int chunks : {3, 2}) {
        const int bytes = bytes_of(rows), asked = (quick ? chunks : chunks - 1) * bytes;
        const int most = (kib + (chunks == 3 ? 0 : quick ? 10 : -4)) * 1024;
        const bool slow_size = quick && std::abs(bytes - 32 * 1024) < 1024;
        const double worth = chunks == 3 ? asked : quick ? 0.76 * asked : asked - 10240;
        const double value = worth * (slow_size ? 0.85 : 1) - less;
        if (chunks * bytes > room || asked > most || value <= best) continue;
        best = value, ring = {slices, rows, chunks};
      }
  return ring;
}

}  // namespace

index_t inner_panel_width(DType type, Layout layout, index_t columns_of_a, index_t columns_of_b,
                          const BlockLimits& limits) noexcept {
  const index_t parts = parts_of(type), unit = 16 / parts;
  const index_t area = inner_scalars_max * inner_scalars_max / 2 / parts;
  const index_t right = (columns_of_b * parts + 7) / 8 * 8;
  const index_t most = std::min<index_t>(256 / parts, area / right / unit * unit);
  if (columns_of_a <= std::max(most, inner_scalars_max / parts)) return columns_of_a;
  index_t panels = (columns_of_a + most - 1) / most;
  if (panels > limits.multiprocessors / 2)  // whole waves
    panels = (panels + limits.multiprocessors - 1) / limits.multiprocessors * limits.multiprocessors;
  const index_t width = (columns_of_a + panels - 1) / panels;
  if (layout == Layout::col_major) return width;
  return std::min((width + unit - 1) / unit * unit, columns_of_a);
}

InnerPlan plan_inner(const InnerProblem& problem, const BlockLimits& device) {
  return plan_inner(problem, device, inner_tilings(problem, device).front());
}

InnerPlan plan_inner(const InnerProblem& problem, const BlockLimits& device, const InnerTiling& chosen) {
  InnerPlan plan{{}, 1, 1, chosen};
  InnerTiling& tiling = plan.tiling;
  InnerShape shape = inner_shape_of(problem);
  const bool gram = problem.gram, narrow = sums_in_float(problem.type, tiling.split) && !tiling.warpgroups;
  if (tiling.warpgroups) shape.swap = swap_for_warpgroups(shape, gram);
  const int fold = shape.fold;
  TallLayout& left = shape.swap ? shape.b : shape.a;
  TallLayout& right = shape.swap ? shape.a : shape.b;
  const int scalars = tiling.three ? 2 : 1;  // of a column of the tiles
  left.vector = widest_vector(left, fold, 2 * tiling.tiles_l * scalars, narrow && !tiling.split ? 8 : 2);
  right.vector = gram ? left.vector : widest_vector(right, fold, tiling.tiles_r * scalars, 8);

  const bool brief = tiling.brief;
  const auto both = [&](int rows) {
    return stage_bytes(shape.a, shape, rows) + (gram ? 0 : stage_bytes(shape.b, shape, rows));
  };
  // What a block leaves its sums in: in float64 where float32 ones are flushed to it; those of warpgroups are
  // in global memory, and both parts of two batches here.
  const int sums = tiling.warps() * tiling.products() * 4 * 32 * 8;
  const int batch_rows = tiling.warpgroups ? warpgroup_batch : 16;
  const int subs = shape.natural ? 1 : 4;
  const bool short_runs = shape.a.mode == TallMode::by_columns || shape.b.mode == TallMode::by_columns;
  const index_t folded_rows = (problem.rows + fold - 1) / fold;
  const auto chunks_of = [&](int chunk) { return (folded_rows + chunk - 1) / chunk; };
  const int inbox_bytes = !brief ? 0 : round_up(static_cast<int>(8 * numbers_of(problem, shape, tiling)) + 256, 128);
  // (Large split tiles spill where no flush parts their steps.)
  bool flushes = narrow && (!brief || (tiling.split && tiling.tiles_l * tiling.tiles_r >= 8));
  int flush_bytes = 0, chunk = 0, stages = 0;
  for (bool fits = false; !fits;) {
    flush_bytes = tiling.warpgroups
                      ? tiling.slices * 4 * warpgroup_batch * 8 * tiling.tiles_r * 4 + (gram ? gram_barrier_bytes : 0)
                  : flushes ? sums
                            : 0;
    const int room = device.shared_bytes / tiling.residents - 1024 - inbox_bytes - flush_bytes;
    // Rows of a chunk: whole steps for every slice, and whole 128-byte lines in every sub-block.
    const auto unit_of = [&](int slices) {
      int unit = batch_rows * slices;
      const auto whole_lines = [&](const TallLayout& s) {
        if (s.mode == TallMode::flat) unit = std::lcm(unit, subs * 128 / std::gcd(128, s.row_bytes(fold)));
        if (s.mode == TallMode::by_columns) unit = std::lcm(unit, 128 / (s.parts * s.scalar));
      };
      whole_lines(shape.a);
      if (!gram) whole_lines(shape.b);
      while (2 * both(unit) > room && unit / 2 % (batch_rows * slices) == 0) unit /= 2;
      return unit;
    };
    int unit = unit_of(tiling.slices);
    while (2 * both(unit) > room && tiling.slices > 1) tiling.slices /= 2, unit = batch_rows * tiling.slices;

    // Long operands: chunks that copy well; short ones: as many chunks as there are.
    chunk = unit;
    const int kib = tiling.chunk_kib > 0 ? tiling.chunk_kib : short_runs ? 64 : 34;
    const int wanted = std::min(kib * 1024, room / 3);
    while (both(chunk + unit) <= wanted) chunk += unit;
    // Long operands in copies of less than 4 KiB are read more slowly than in longer ones. (Of blocks that
    // share a multiprocessor one copies while the other multiplies; a warp that does both has no registers
    // for longer chunks.)
    const bool as_told = tiling.chunk_kib > 0;
    const bool in_pairs = tiling.residents > 1 && tiling.producers > 0 && both(chunk) < (gram ? 16 : 32) * 1024;
    if (!brief && !as_told && !tiling.pairs && both(chunk) < shortest_chunk &&
        (in_pairs ? 2 : 3) * both(chunk + unit) <= room)
      chunk += unit;
    if (brief)
      while (chunk > unit && chunks_of(chunk) < brief_chunks) chunk -= unit;
    else if (!as_told && 4 * chunk * static_cast<index_t>(device.multiprocessors) > folded_rows)
      chunk = unit;
    const int ring_kib = brief ? brief_ring_kib : tiling.ring_kib;
    stages =
        std::clamp(std::min(room, std::max(ring_kib * 1024, 3 * both(chunk))) / both(chunk), 2, tiling.most_stages);
    if (tiling.requests.kib > 0) {
      const Ring ring = ring_of(tiling, room, {tiling.slices, chunk, stages}, both, unit_of);
      tiling.slices = ring.slices, chunk = ring.rows, stages = ring.chunks;
    }

    const index_t chunks = chunks_of(chunk);
    const index_t most = brief ? clusters_of(device) / problem.panels * cluster_blocks
                               : std::max<index_t>(1, device.multiprocessors / problem.panels);
    const index_t wanted_blocks =
        brief && chunks > 1 ? (chunks + cluster_blocks - 1) / cluster_blocks * cluster_blocks : chunks;
    plan.panel_blocks = static_cast<int>(std::clamp<index_t>(wanted_blocks, 1, most));
    const index_t rounds = (chunks + plan.panel_blocks - 1) / plan.panel_blocks;
    fits = !narrow || flushes || rounds * (chunk / 16 / tiling.slices) <= longest_float_sum;
    flushes = flushes || !fits;
  }
  const bool clustered = brief && plan.panel_blocks > 1;
  plan.group_size = clustered ? cluster_blocks : group_size_of(plan.panel_blocks);
  const int groups = (plan.panel_blocks + plan.group_size - 1) / plan.group_size;
  KernelPlan& k = plan.kernel;
  k.family = !tiling.warpgroups ? "tsmttsm" : gram && tiling.warps_l == 1 ? "gram_wgmma" : "tsmttsm_wgmma";
  k.defines = {define(problem.type),
               define("TS_CORE", scalar_bytes(problem.type) == 2 ? 2
                                 : tiling.split                  ? 1
                                                                 : 0),
               define("TS_P", problem.p),
               define("TS_Q", gram ? problem.p : problem.q),
               define("TS_GRAM", gram),
               define("TS_SWAP", shape.swap),
               define("TS_FOLD", fold),
               define("TS_SUBS", subs),
               define("TS_MODE_A", mode_of(shape.a, chunk, device)),
               define("TS_PITCH_A", shape.a.pitch),
               define("TS_VECTOR_A", shape.a.vector),
               define("TS_UNIT_A", shape.a.unit),
               define("TS_SHIFT_A", shape.a.shift),
               define("TS_MODE_B", mode_of(shape.b, chunk, device)),
               define("TS_PITCH_B", shape.b.pitch),
               define("TS_VECTOR_B", shape.b.vector),
               define("TS_UNIT_B", shape.b.unit),
               define("TS_SHIFT_B", shape.b.shift),
               define("TS_PARTS", problem.parts > 0),
               define("TS_SUB_ROWS", chunk / subs),
               define("TS_STAGES", stages),
               define("TS_PRODUCERS", tiling.producers),
               define("TS_RESIDENTS", tiling.residents),
               define("TS_SLICES", tiling.slices),
               define("TS_FLUSH", tiling.warpgroups ? 512
                                  : flushes         ? flush_steps
                                                    : 0),
               define("TS_PANELS", problem.panels > 1 ? 2 : 1),
               define("TS_CLUSTER", clustered ? cluster_blocks : 1)};
  if (tiling.warpgroups)
    k.defines.insert(k.defines.end(),
                     {define("TS_WARPGROUPS", tiling.warps_l), define("TS_COLUMNS", 8 * tiling.tiles_r)});
  else
    k.defines.insert(k.defines.end(), {define("TS_TILES_L", tiling.tiles_l), define("TS_TILES_R", tiling.tiles_r),
                                       define("TS_WARPS_L", tiling.warps_l), define("TS_WARPS_R", tiling.warps_r),
                                       define("TS_THREE", tiling.three), define("TS_PAIRS", tiling.pairs),
                                       define("TS_GIVE", tiling.give)});
  const index_t parts = std::max<index_t>(1, problem.parts);
  k.grid = static_cast<unsigned>(parts * problem.panels * plan.panel_blocks);
  k.block = static_cast<unsigned>(32 * (tiling.warps() + tiling.producers));
  const int ring_bytes = flush_bytes + stages * both(chunk);
  const int overlaid = tiling.warpgroups ? ring_bytes : std::max(ring_bytes, narrow && !flushes ? sums / 2 : sums);
  k.shared_bytes = 128 + static_cast<std::size_t>(inbox_bytes + overlaid) + 64;
  // Blocks of two kernels that overlap would gather on some multiprocessors if both had room there.
  if (clustered) k.shared_bytes = std::max<std::size_t>(k.shared_bytes, device.shared_bytes / 2 + 1024);
  k.overlaps = clustered;
  k.workspace_bytes = static_cast<std::size_t>(parts * problem.panels * (plan.panel_blocks + groups)) *
                      static_cast<std::size_t>(problem.p * (gram ? problem.p : problem.q)) *
                      static_cast<std::size_t>(shape.a.parts) * sizeof(double);
  if (tiling.warpgroups) k.workspace_bytes += k.grid * static_cast<std::size_t>(sums);
  k.budget.registers = register_cap(tiling.residents * (tiling.warps() + tiling.producers));
  k.budget.shared_bytes = 1024;
  return plan;
}

}  // namespace ts::cuda
