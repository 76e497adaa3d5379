#include "tallskinny/gemm/backend/cuda/inner_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/backend/cuda/stream.hpp"

namespace ts::cuda {
namespace {

/// Columns that a lane may load at once, out of `blocks` blocks of 8 columns.
int widest_vector(const TallLayout& s, int fold, int blocks, int widest) {
  if (s.mode == TallMode::by_columns) return s.parts;
  const unsigned base = s.mode == TallMode::flat ? s.address : 0;
  for (int v = std::min(widest, 16 / s.scalar); v > 1; v /= 2) {
    const int bytes = v * s.scalar;
    if (s.row_bytes(fold) % bytes == 0 && base % static_cast<unsigned>(bytes) == 0 && blocks % v == 0)
      return v;
  }
  return 1;
}

/// Fewer rows than this are bound by the start of the kernel whatever the arithmetic, and float64 is exact.
constexpr index_t least_rows_to_split = 4096;

/// Blocks of a cluster, and how many clusters run at once: those of 8 find room on 120 of the 132
/// multiprocessors of an H100, whose parts have 16 or 18.
constexpr int cluster_blocks = 8;
int clusters_of(const BlockLimits& limits) {
  return limits.multiprocessors * 10 / 11 / cluster_blocks;
}
/// Cycles by which clusters are done earlier than tickets.
constexpr double cluster_gain = 9e3;
/// Cycles of work up to which that is worth the multiprocessors that clusters leave idle: where these count,
/// and where memory is the limit.
constexpr double brief_arithmetic = 80e3, brief_reading = 250e3;
/// Bytes of shared memory that other blocks may write to.
constexpr index_t largest_inbox = 64 * 1024;
constexpr int brief_ring_kib = 96;  ///< more makes blocks finish at different times
/// A brief product has at least so many chunks where its rows suffice.
constexpr index_t brief_chunks = 64;
/// Steps of 16 rows after which sums in float32 move to float64, and up to how many they need not.
constexpr int flush_steps = 64;
constexpr int longest_float_sum = 96;

/// What is known before a tiling is chosen.
struct Shape {
  TallLayout a, b;
  bool natural = false;  ///< an operand is column-major
  int fold = 1;
  bool swap = false;  ///< the left factor of the tensor instruction is B
  const TallLayout& left() const { return swap ? b : a; }
  const TallLayout& right() const { return swap ? a : b; }
};

Shape shape_of(const InnerProblem& problem) {
  Shape s;
  s.a = layout_of(problem.type, problem.p, problem.a);
  s.b = problem.gram ? s.a : layout_of(problem.type, problem.q, problem.b);
  s.natural = s.a.mode == TallMode::by_columns || s.b.mode == TallMode::by_columns;
  if (!s.natural)
    while (s.a.folded(s.fold + 1) <= 16 && s.b.folded(s.fold + 1) <= 16) ++s.fold;
  // The side of 16 takes the factor that wastes less of it.
  const auto padded = [&](const TallLayout& l, const TallLayout& r) {
    return round_up(l.folded(s.fold), 16) * round_up(r.folded(s.fold), 8);
  };
  s.swap = !problem.gram && padded(s.b, s.a) < padded(s.a, s.b);
  return s;
}

/// The side of 64 takes the factor that wastes less of it.
bool swap_for_warpgroups(const Shape& s, bool gram) {
  const auto padded = [&](const TallLayout& l, const TallLayout& r) {
    return round_up(l.folded(s.fold), 64) * round_up(r.folded(s.fold), 8) +
           (r.folded(s.fold) > 128 ? 1 << 20 : 0);
  };
  return !gram && padded(s.b, s.a) < padded(s.a, s.b);
}

int tiles_needed(bool gram, const InnerTiling& t) {
  int count = 0;
  for (int l = 0; l < t.warps_l; ++l)
    for (int r = 0; r < t.warps_r; ++r) count += !gram || (r + 1) * 8 * t.tiles_r > l * 16 * t.tiles_l;
  return count;
}

bool sums_in_float(DType type, bool split) {
  return scalar_bytes(type) == 2 || split;
}

/// What a thread will need: sums, the fragments of one step, addresses.
int registers_needed(DType type, const InnerTiling& t) {
  const int tiles = t.tiles_l * t.tiles_r;
  if (scalar_bytes(type) == 2) return 4 * tiles + 2 * t.tiles_r + 48 + (tiles > 4 ? 44 : 0);
  if (t.split) return 4 * tiles + 8 * t.tiles_r + 100;
  return 8 * tiles + 8 * t.tiles_r + 64;
}

/// Bytes of a chunk of long operands, where there is room.
constexpr int shortest_chunk = 30 * 1024;

/// Rows of a batch of the warpgroup kernel.
constexpr int warpgroup_batch = 32;

/// Tilings of the warpgroup kernel.
void add_warpgroup_tilings(const InnerProblem& problem, const BlockLimits& limits, Shape shape,
                           std::vector<InnerTiling>& all) {
  if (!limits.warpgroups || scalar_bytes(problem.type) != 4 || shape.natural ||
      problem.rows < least_rows_to_split)
    return;
  shape.swap = swap_for_warpgroups(shape, problem.gram);
  const int groups = (shape.left().folded(shape.fold) + 63) / 64;
  const int blocks = (shape.right().folded(shape.fold) + 7) / 8;
  if (blocks > 16 || groups > (problem.gram ? 2 : 3)) return;
  for (const int slices : {1, 2, 3}) {
    InnerTiling t{1, blocks, groups, 1, groups, slices, 4, true, true};
    // Two sets of sums, both parts of the left factor, addresses; warps that fill give registers away.
    const int needed = 8 * blocks + 88, warps = t.warps(), each = warps > 8 ? 152 : warps > 4 ? 224 : 255;
    if (warps > 12 || needed > each) continue;
    // As measured on an H100: cycles of a scheduler for 16 rows, as of the other tilings.
    const double area = groups * blocks - (problem.gram && groups == 2 ? 8 : 0);
    t.cost = ((problem.gram ? 800 : 600) * groups + 75 * area) * (t.warps() < 8 ? 1.3
                                                                  : slices == 3 ? 0.95
                                                                                : 1);
    all.push_back(t);
  }
}

/// Whether blocks send their sums as they lie in fragments (kernels/tsmttsm.cuh).
bool sends_fragments(const InnerProblem& problem, const Shape& shape, const InnerTiling& t) {
  return !problem.gram && parts_of(problem.type) == 1 && shape.fold == 1 && !t.split;
}
/// Numbers that a block sends.
index_t numbers_of(const InnerProblem& problem, const Shape& shape, const InnerTiling& t) {
  if (sends_fragments(problem, shape, t)) return t.tiles * t.tiles_l * t.tiles_r * 128;
  return problem.p * (problem.gram ? problem.p : problem.q) * parts_of(problem.type);
}

/// Bytes of a stage for `rows` folded rows.
int stage_bytes(const TallLayout& s, const Shape& shape, int rows) {
  if (s.mode == TallMode::by_columns) {
    const int pitch = round_up(rows * s.parts * s.scalar, 128) + (s.scalar == 8   ? 16
                                                                  : s.scalar == 4 ? 64
                                                                                  : 32);
    return round_up(s.width / s.parts * pitch, 128);
  }
  const int subs = shape.natural ? 1 : 4, bytes = rows / subs * s.row_bytes(shape.fold);
  return round_up(subs * (round_up(bytes + (s.shift ? 144 : 0), 128) + (shape.natural ? 0 : 32)), 128);
}

/// Whether blocks meet in clusters; `cost` cycles of a scheduler for 16 rows.
bool is_brief(const InnerProblem& problem, const BlockLimits& limits, const Shape& shape,
              const InnerTiling& t, double cost, bool arithmetic) {
  const double cycles = static_cast<double>(problem.rows * problem.panels) / shape.fold / 16 * cost / 4 /
                        limits.multiprocessors;
  const index_t numbers = numbers_of(problem, shape, t), clusters = clusters_of(limits);
  const index_t kept = t.warps() * t.tiles_l * t.tiles_r * 128;
  return limits.bulk_copies && problem.panels <= clusters && 8 * numbers <= largest_inbox &&
         8 * (numbers + kept) + 2048 <= limits.shared_bytes && clusters * numbers <= Stream::letter_count &&
         cycles <= (arithmetic ? brief_arithmetic : brief_reading);
}

/// TS_MODE_..: columns of at least a KiB are copied in bulk.
int mode_of(const TallLayout& s, int chunk, const BlockLimits& limits) {
  constexpr int in_bulk = 3;
  const bool long_columns = s.mode == TallMode::by_columns && s.unit == 16 && limits.bulk_copies &&
                            chunk * s.parts * s.scalar >= 1024;
  return long_columns ? in_bulk : static_cast<int>(s.mode);
}

/// Blocks that read panels of the same rows of a narrow type side by side: memory binds. As measured on an
/// H100, float64 sums of many warps wait least, and what is under way should stay close together.
bool reads_side_by_side(const InnerProblem& problem, const BlockLimits& limits, const Shape& shape) {
  return problem.panels > limits.multiprocessors / 2 && !shape.natural && scalar_bytes(problem.type) < 8 &&
         shape.right().folded(shape.fold) <= 32;
}

/// Tilings of single warps, of which so many blocks share a multiprocessor.
std::vector<InnerTiling> tilings_of_warps(const InnerProblem& problem, const BlockLimits& limits,
                                          const Shape& shape, int residents) {
  const bool gram = problem.gram;
  const int left = shape.left().folded(shape.fold), right = shape.right().folded(shape.fold);
  const int need_l = (left + 15) / 16, need_r = (right + 7) / 8;
  const bool bulk = limits.bulk_copies && shape.a.mode == TallMode::flat && shape.b.mode == TallMode::flat;
  const int producers = bulk ? 1 : 4;
  const int bytes = shape.a.row_bytes(shape.fold) + (gram ? 0 : shape.b.row_bytes(shape.fold));
  const int even = std::max(shape.natural ? shape.right().parts : 1, 1);
  // Registers that addresses take where columns are fetched; two ways of fetching at once take most.
  const int fetching = !shape.natural ? 0 : shape.a.mode == shape.b.mode ? 8 : 32;
  const bool side_by_side = reads_side_by_side(problem, limits, shape);

  // Whether the shared memory of a multiprocessor holds the sums and two stages of each of its blocks.
  const auto shares_memory = [&](const InnerTiling& t, bool narrow) {
    const int sums = t.warps() * t.tiles_l * t.tiles_r * 1024, rows = 16 * t.slices;
    const int two = 2 * (stage_bytes(shape.a, shape, rows) + (gram ? 0 : stage_bytes(shape.b, shape, rows)));
    return (narrow ? sums + two : std::max(sums, two)) + 2048 <= limits.shared_bytes / residents;
  };

  std::vector<InnerTiling> all;
  for (const bool split : {false, true}) {
    if (split && (scalar_bytes(problem.type) != 4 || problem.rows < least_rows_to_split)) continue;
    if (split && side_by_side) continue;
    const bool narrow = sums_in_float(problem.type, split);
    for (int tl = 1; tl <= std::min(4, need_l); ++tl)
      for (int tr = 1; tr <= 8; ++tr) {
        if (tr == 5 || tr == 7) continue;  // their columns would be loaded one by one
        if (tr % even != 0 || (tr > round_up(need_r, even) && !gram) || (gram && tr != 2 * tl)) continue;
        if (narrow && tl * tr > (split ? 16 : 9)) continue;
        InnerTiling t{tl, tr, (need_l + tl - 1) / tl, (need_r + tr - 1) / tr, 1, 1, producers, split};
        t.tiles = tiles_needed(gram, t);
        for (int slices : {8, 4, 3, 2, 1}) {
          t.slices = slices, t.producers = producers;
          const int warps = residents * t.warps(), step_bytes = 16 * slices * residents * bytes;
          if (warps > 15 || (slices > 1 && (warps > 12 || step_bytes > 66 * 1024))) continue;
          if (residents > 1 && !shares_memory(t, narrow)) continue;
          if (side_by_side && scalar_bytes(problem.type) == 4 && slices > 2) continue;
          const int needed = registers_needed(problem.type, t) + fetching;
          if (needed > register_cap(warps + residents * producers)) t.producers = 0;
          // A warp that loads as well; in complex types parts of the rows take registers beside that.
          const bool more = !bulk || (problem.parts > 0 && shape.a.parts == 2);
          const int loading = t.producers == 0 && more ? 16 : 0;
          if (needed + loading > register_cap(warps + residents * t.producers)) continue;
          // Cycles of a scheduler for 16 rows: tensor instructions at the rate of the type, or the issue of
          // loads and of what splitting, widening and adding take.
          const double products = t.tiles * tl * tr, columns = t.tiles * (2 * tl + tr);
          const double tensor = products * (split ? 36 : narrow ? 8 : 64);
          const double issue = products * (split    ? 14
                                           : narrow ? 5
                                                    : 1) +
                               columns * (split    ? 16
                                          : narrow ? 6
                                                   : 5);
          const int rounds = (warps + 3) / 4;
          const double busy = warps / (4.0 * rounds);
          t.cost = (std::max(tensor, issue) + 0.3 * std::min(tensor, issue)) / busy *
                   (warps < 8    ? 1.3
                    : warps > 12 ? 1.25
                                 : 1) *
                   (t.producers > 0 ? 1
                    : bulk          ? 1.15
                                    : 2) *
                   (step_bytes > 40 * 1024 ? 1.1 : 1) * (side_by_side && warps > 8 ? 0.9 : 1);
          if (side_by_side) t.ring_kib = 80, t.chunk_kib = 28;
          t.residents = residents, t.ring_kib /= residents;
          all.push_back(t);
        }
      }
  }
  return all;
}

}  // namespace

int group_size_of(int panel_blocks) noexcept {
  return static_cast<int>(std::ceil(std::sqrt(panel_blocks)));
}

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

std::vector<InnerTiling> inner_tilings(const InnerProblem& problem, const BlockLimits& limits) {
  const Shape shape = shape_of(problem);
  std::vector<InnerTiling> all;
  for (int residents = limits.residents; all.empty() && residents > 0; --residents)
    all = tilings_of_warps(problem, limits, shape, residents);
  const int bytes = shape.a.row_bytes(shape.fold) + (problem.gram ? 0 : shape.b.row_bytes(shape.fold));
  const double memory = 4 * 16.0 * bytes / 14;  // a multiprocessor reads 14 bytes a cycle
  for (InnerTiling& t : all)
    t.brief =
        problem.parts == 0 && is_brief(problem, limits, shape, t, std::max(t.cost, memory), t.cost > memory);
  // They start slowly and pay where memory is not the limit.
  const auto cheaper = [](const InnerTiling& x, const InnerTiling& y) { return x.cost < y.cost; };
  if (all.empty() || problem.every_core ||
      (!reads_side_by_side(problem, limits, shape) &&
       1.2 * std::min_element(all.begin(), all.end(), cheaper)->cost > memory))
    add_warpgroup_tilings(problem, limits, shape, all);
  const double gain = 4 * cluster_gain * limits.multiprocessors * 16 * shape.fold /
                      static_cast<double>(problem.rows * problem.panels);
  for (InnerTiling& t : all)
    if (!t.brief) t.cost += gain;
  std::stable_sort(all.begin(), all.end(), cheaper);
  return all;
}

InnerPlan plan_inner(const InnerProblem& problem, const BlockLimits& device) {
  return plan_inner(problem, device, inner_tilings(problem, device).front());
}

InnerPlan plan_inner(const InnerProblem& problem, const BlockLimits& device, const InnerTiling& chosen) {
  InnerPlan plan{{}, 1, 1, chosen};
  InnerTiling& tiling = plan.tiling;
  Shape shape = shape_of(problem);
  const bool gram = problem.gram, narrow = sums_in_float(problem.type, tiling.split) && !tiling.warpgroups;
  if (tiling.warpgroups) shape.swap = swap_for_warpgroups(shape, gram);
  const int fold = shape.fold;
  TallLayout& left = shape.swap ? shape.b : shape.a;
  TallLayout& right = shape.swap ? shape.a : shape.b;
  left.vector = widest_vector(left, fold, 2 * tiling.tiles_l, narrow && !tiling.split ? 8 : 2);
  right.vector = gram ? left.vector : widest_vector(right, fold, tiling.tiles_r, 8);

  const bool brief = tiling.brief;
  const auto both = [&](int rows) {
    return stage_bytes(shape.a, shape, rows) + (gram ? 0 : stage_bytes(shape.b, shape, rows));
  };
  // What a block leaves its sums in: in float64 where float32 ones are flushed to it; those of warpgroups are
  // in global memory, and both parts of two batches here.
  const int values = tiling.tiles_l * tiling.tiles_r * 4, sums = tiling.warps() * values * 32 * 8;
  const int batch_rows = tiling.warpgroups ? warpgroup_batch : 16;
  const int subs = shape.natural ? 1 : 4;
  const bool short_runs = shape.a.mode == TallMode::by_columns || shape.b.mode == TallMode::by_columns;
  const index_t folded_rows = (problem.rows + fold - 1) / fold;
  const auto chunks_of = [&](int chunk) { return (folded_rows + chunk - 1) / chunk; };
  const int inbox_bytes =
      !brief ? 0 : round_up(static_cast<int>(8 * numbers_of(problem, shape, tiling)) + 256, 128);
  // (Large split tiles spill where no flush parts their steps.)
  bool flushes = narrow && (!brief || (tiling.split && tiling.tiles_l * tiling.tiles_r >= 8));
  int flush_bytes = 0, chunk = 0, stages = 0;
  for (bool fits = false; !fits;) {
    flush_bytes = tiling.warpgroups ? tiling.slices * 4 * warpgroup_batch * 8 * tiling.tiles_r * 4
                  : flushes         ? sums
                                    : 0;
    const int room = device.shared_bytes / tiling.residents - 1024 - inbox_bytes - flush_bytes;
    // Rows of a chunk: whole steps for every slice, and whole 128-byte lines in every sub-block.
    int unit = batch_rows * tiling.slices;
    const auto whole_lines = [&](const TallLayout& s) {
      if (s.mode == TallMode::flat) unit = std::lcm(unit, subs * 128 / std::gcd(128, s.row_bytes(fold)));
      if (s.mode == TallMode::by_columns) unit = std::lcm(unit, 128 / (s.parts * s.scalar));
    };
    whole_lines(shape.a);
    if (!gram) whole_lines(shape.b);
    while (2 * both(unit) > room && unit / 2 % (batch_rows * tiling.slices) == 0) unit /= 2;
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
    const bool in_pairs =
        tiling.residents > 1 && tiling.producers > 0 && both(chunk) < (gram ? 16 : 32) * 1024;
    if (!brief && !as_told && both(chunk) < shortest_chunk && (in_pairs ? 2 : 3) * both(chunk + unit) <= room)
      chunk += unit;
    if (brief)
      while (chunk > unit && chunks_of(chunk) < brief_chunks) chunk -= unit;
    else if (!as_told && 4 * chunk * static_cast<index_t>(device.multiprocessors) > folded_rows)
      chunk = unit;
    const int ring_kib = brief ? brief_ring_kib : tiling.ring_kib;
    stages = std::clamp(std::min(room, std::max(ring_kib * 1024, 3 * both(chunk))) / both(chunk), 2, 8);

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
  k.family = tiling.warpgroups ? "tsmttsm_wgmma" : "tsmttsm";
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
    k.defines.insert(k.defines.end(),
                     {define("TS_TILES_L", tiling.tiles_l), define("TS_TILES_R", tiling.tiles_r),
                      define("TS_WARPS_L", tiling.warps_l), define("TS_WARPS_R", tiling.warps_r)});
  const index_t parts = std::max<index_t>(1, problem.parts);
  k.grid = static_cast<unsigned>(parts * problem.panels * plan.panel_blocks);
  k.block = static_cast<unsigned>(32 * (tiling.warps() + tiling.producers));
  const int ring_bytes = flush_bytes + stages * both(chunk);
  const int overlaid =
      tiling.warpgroups ? ring_bytes : std::max(ring_bytes, narrow && !flushes ? sums / 2 : sums);
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
