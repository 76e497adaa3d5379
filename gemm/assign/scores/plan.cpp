#include "tallskinny/gemm/assign/scores/plan.hpp"

#include <algorithm>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/tall_operand.hpp"

namespace ts::cuda {

namespace {

constexpr index_t threads = 256, warps_a_block = threads / 32;

/// Whether three products of float16 parts of every row cost less than what a single one leaves to be scored
/// again.
bool three_products_pay(const AssignProblem& p, const DeviceInfo& device) {
  const double products = 3.0 * 2 * 16 * static_cast<double>(column_steps(p.rows.d) * padded_centroids(p.k));
  const double bytes = static_cast<double>(p.rows.d * size_of(p.rows.type) + 4);
  return products / (0.6 * device.half_tensor_flops) < 2 * bytes / device.read_bytes_per_second;
}

/// The words of a block that keeps sums in shared memory (assign/scores/kernels/assign_settle.cuh).
index_t chip_bytes(const AssignProblem& p) {
  return 4 * padded_centroids(p.k) * (4 * (p.rows.d + 1) + 1);
}

/// Which rows a kernel looks at.
enum class Turn { every_row, listed_rows };

/// What both kernels with scores have in common: how a row is loaded, where sums are kept, and the grid.
/// `shared` is what a block needs beside its sums; how many listed rows it will get is not known.
void finish(KernelPlan& plan, const AssignProblem& p, Turn turn, index_t shared, index_t warps,
            index_t blocks, index_t warp_rows, const DeviceInfo& device) {
  constexpr index_t most_rows = 1 << 15;  // of a block with sums of halves of limbs
  const auto size = static_cast<int>(size_of(p.rows.type));
  Piece piece =
      widest_piece(static_cast<std::size_t>(size), {Layout::row_major, false, p.rows.alignment}, p.rows.d);
  if (plan.family == "assign_scores") piece.count = std::min(piece.count, 4);
  piece.alignment = std::min(piece.alignment, piece.count * size);
  const bool on_chip = turn == Turn::every_row &&
                       blocks * (shared + chip_bytes(p) + 1024) <= device.shared_bytes_per_multiprocessor &&
                       shared + chip_bytes(p) <= device.shared_bytes_per_block;
  for (auto& each :
       {define(p.rows.type), define("TS_D", p.rows.d), define("TS_WIDE", p.wide ? 1 : 0),
        define("TS_COUNT", piece.count), define("TS_ALIGN", piece.alignment),
        define("TS_ON_CHIP", on_chip ? 1 : 0), define("TS_WARPS", warps), define("TS_BLOCKS", blocks),
        define("TS_FAST", p.fast ? 1 : 0), define("TS_MARGIN", p.margin ? 1 : 0)})
    plan.defines.push_back(each);
  const index_t at_once = blocks * device.multiprocessors;
  const index_t waves =
      on_chip ? std::max<index_t>(1, ceil_div(p.rows.n, at_once * (most_rows - warps * warp_rows))) : 1;
  plan.grid = grid_of(ceil_div(p.rows.n, warps * warp_rows), waves * at_once);
  plan.block = static_cast<unsigned>(32 * warps);
  plan.shared_bytes = static_cast<std::size_t>(shared + (on_chip ? chip_bytes(p) : 0));
  plan.budget = {static_cast<int>(65536 / (32 * warps * blocks) / 8 * 8), 0};
}

}  // namespace

std::optional<ScorePlan> assign_narrow_plan(const AssignProblem& p, const DeviceInfo& device) {
  constexpr index_t most_columns = 16, most_products = 384, most_centroids = 128;
  if (p.rows.d > most_columns || p.rows.d * p.k > most_products || p.k > most_centroids) return std::nullopt;
  const index_t groups = ceil_div(p.k, 4), size = static_cast<index_t>(size_of(p.rows.type));
  const index_t shared = groups * (p.rows.d + 1) * 16 + ceil_div(p.rows.d, 4) * 4 * (p.wide ? 8 : 4);
  // A warp should have 2 KiB of loads under way, and registers for its rows.
  const index_t rows = std::min<index_t>(
      8, std::clamp<index_t>(64 / (p.rows.d * size), 2,
                             std::max<index_t>(2, (p.wide || p.rows.d % 4 != 0 ? 16 : 32) / p.rows.d)));
  KernelPlan plan;
  plan.family = "assign_narrow";
  plan.defines = {define("TS_GROUPS", groups), define("TS_ROWS", rows)};
  finish(plan, p, Turn::every_row, shared, warps_a_block, 2, 32 * rows, device);
  return ScorePlan{ScoreFamily::narrow, std::move(plan)};
}

/// assign/scores/kernels/assign_single.cuh, where it can serve: what was fastest on an H100 among such
/// settings.
std::optional<ScorePlan> assign_single_plan(const AssignProblem& p, bool confirms, const DeviceInfo& device) {
  constexpr index_t most_steps = 8, most_tiles = 64, few_tiles = 8, group_registers = 64;
  constexpr index_t most_products_of_lanes = 384;  // of float32, below which assign_narrow is as fast
  const index_t steps = column_steps(p.rows.d), tiles = padded_centroids(p.k) / 8;
  const auto size = static_cast<index_t>(size_of(p.rows.type));
  const bool halves = p.rows.type == DType::float16, many = tiles > few_tiles;
  if (!p.rows.plain || !p.as_are || p.wide || p.rows.d % 4 != 0 || p.rows.alignment < 4 * size ||
      steps > most_steps || tiles > most_tiles ||
      (!halves && p.rows.d < 16 && p.k * p.rows.d <= most_products_of_lanes))
    return std::nullopt;
  // Float16 rows are exact: lower parts of centroids leave less open where they cost little. Of float32 rows
  // three products do where bytes hide them, or where they cost less than clustered rows that one leaves
  // open.
  const bool cheap = tiles <= 2 * steps || (steps == 1 && !many);
  const index_t parts = p.fast                                ? 1
                        : halves                              ? (steps <= 2 && !many ? 2 : 1)
                        : p.rows.d > 8 && steps <= 4 && cheap ? 3
                                                              : 1;
  const index_t products = p.rows.d <= 8 ? 1 : (parts == 1 ? 1 : 2) * steps;
  const index_t shared = tiles * (products * 256 + 32);
  if (shared + 2048 > device.shared_bytes_per_block) return std::nullopt;
  const bool streaming =
      !halves && many && steps <= 2 && !p.margin;  // a margin takes registers, here and below
  const index_t rows = streaming || (steps == 1 && tiles <= 4 && parts != 3) ? 4 : 2;
  const index_t raw = 2 * rows * steps * size;  // words of rows under way
  const bool ahead = !streaming && !p.margin && raw <= (halves ? 64 : 32);
  index_t group = streaming ? 0 : !halves && steps > 1 ? 4 : 8;
  while (group > 0 && (tiles % group != 0 || 4 * rows * group > group_registers / (p.margin ? 2 : 1)))
    group /= 2;
  if (group == 1) group = 0;
  const bool heavy = 4 * rows * steps * (parts == 3 ? 2 : 1) + (ahead ? raw : 0) > (p.margin ? 48 : 56);
  // Confirming takes few registers, and waits.
  const bool light = confirms && halves && steps <= 2 && device.capability() >= 90;
  const index_t most_blocks = heavy ? 1 : light ? 3 : 2;
  const index_t blocks =
      std::clamp<index_t>(device.shared_bytes_per_multiprocessor / (shared + 2048), 1, most_blocks);
  KernelPlan plan;
  plan.family = "assign_single";
  plan.defines = {define("TS_STEPS", steps),         define("TS_TILES", tiles),
                  define("TS_PARTS", parts),         define("TS_MT", rows),
                  define("TS_GROUP", group),         define("TS_PACKED", p.rows.packed ? 1 : 0),
                  define("TS_AHEAD", ahead ? 1 : 0), define("TS_CONFIRM", confirms ? 1 : 0)};
  finish(plan, p, confirms ? Turn::listed_rows : Turn::every_row, shared, blocks == 1 ? 12 : 8, blocks,
         16 * rows, device);
  plan.budget.shared_bytes = 16;  // what the bound of a row is made of
  return ScorePlan{ScoreFamily::single, std::move(plan)};
}

ScorePlan assign_tensor_plan(const AssignProblem& p, Turn turn, index_t parts, const DeviceInfo& device) {
  constexpr index_t most_tiles = 32;           // of a chunk: the number of a centroid takes bits of its score
  constexpr index_t most_buffered = 64 << 10;  // bytes of one of two chunks that come and go
  const index_t steps = column_steps(p.rows.d), tiles = padded_centroids(p.k) / 8;
  const index_t tile_bytes = steps * 256 * parts + 32, rest = 16 * steps * (p.wide ? 8 : 4);
  index_t chunk = std::min(tiles, most_tiles);
  index_t shared = ceil_div(tiles, chunk) * chunk * tile_bytes + rest;
  const bool resident = shared <= device.shared_bytes_per_block;
  if (!resident) {
    chunk = std::min(chunk, most_buffered / tile_bytes);
    shared = 2 * chunk * tile_bytes + rest;
  }
  // As many tiles of 16 rows as the registers of a warp hold with all their columns.
  const index_t held = (p.rows.type == DType::float64 ? 2 : 1) * steps * parts;
  const index_t rows = held <= 2 && tiles <= chunk ? 4 : held <= (resident ? 8 : 6) ? 2 : 1;
  const bool twice = resident && 2 * (shared + 1024) <= device.shared_bytes_per_multiprocessor;
  // With 56 registers of fragments and more, a warp needs more than the 128 that 16 of them have.
  const bool heavy = 4 * parts * rows * steps >= 56 || (p.rows.type == DType::float64 && !resident);
  const index_t blocks = twice ? 2 : 1, warps = (heavy ? 12 : 16) / blocks;
  KernelPlan plan;
  plan.family = "assign_scores";
  plan.defines = {define("TS_STEPS", steps),
                  define("TS_TILES", tiles),
                  define("TS_CHUNK", chunk),
                  define("TS_RESIDENT", resident ? 1 : 0),
                  define("TS_MT", rows),
                  define("TS_PARTS", parts),
                  define("TS_PAIRED", turn == Turn::listed_rows ? 1 : 0)};
  finish(plan, p, turn, shared, warps, blocks, 16 * rows, device);
  return ScorePlan{ScoreFamily::tensor, std::move(plan)};
}

/// Steps that assign_groups has in a stage: rows are padded to whole stages.
index_t steps_of_stage(index_t d) {
  const index_t steps = column_steps(d);
  return steps % 4 == 0 || steps > 16 ? 4 : steps % 2 == 0 || steps > 4 ? 2 : 1;
}

/// Steps of a row that each of so many warpgroups can have in registers, beside scores, or columns that are
/// being loaded.
index_t most_held_steps(index_t groups, index_t stage_steps, bool margin) {
  constexpr int producer_registers = 24, scores = 64;
  const int others = margin ? 72 : 56;
  const index_t free = registers_left(static_cast<int>(4 * groups), 4, producer_registers) - scores - others;
  const index_t unit = std::max<index_t>(stage_steps, 2);
  return free / 4 / unit * unit;
}

/// assign/scores/kernels/assign_groups.cuh with as many warpgroups as find memory; none where not even one
/// does.
std::optional<ScorePlan> assign_groups_plan(const AssignProblem& p, index_t parts, const AssignPlans& plans,
                                            const DeviceInfo& device) {
  constexpr index_t group_rows = 64, least_stages = 3, most_stages = 8;
  constexpr index_t wanted_ring = 64 << 10;  // bytes: for less of it rows go into registers, then groups go
  const index_t most_groups = parts == 1 ? 3 : 2;  // sums stage by stage need twice the registers
  const index_t most_steps = parts == 1 ? 4 : 2;   // sums of more lose more
  const index_t rest = 2 * most_stages * 8 + 16 * plans.steps * (p.wide ? 8 : 4);
  const auto bytes_left = [&](index_t groups, index_t held) {
    return device.shared_bytes_per_block - rest - groups * group_rows * 32 * (plans.steps - held) * parts;
  };
  for (index_t groups = most_groups; groups > 0; --groups)
    for (index_t stage_steps = std::min(steps_of_stage(p.rows.d), most_steps); stage_steps > 0;
         stage_steps /= 2) {
      const bool holds = parts == 1 && plans.padded > plans.chunk && bytes_left(groups, 0) < wanted_ring;
      const index_t held = holds ? std::min(plans.steps, most_held_steps(groups, stage_steps, p.margin)) : 0;
      if (holds && groups > 1 && bytes_left(groups, held) < wanted_ring) continue;
      const bool gives = held > 0 || p.wide;  // the copying warp's group its registers
      const index_t stage = stage_steps * 32 * plans.chunk * parts;
      const index_t stages = std::min(most_stages, bytes_left(groups, held) / stage);
      if (stages < least_stages) continue;
      // What is fetched of the rows that all blocks take next should stay in the cache beside the centroids.
      const index_t row = p.rows.d * static_cast<index_t>(size_of(p.rows.type));
      const index_t share = device.l2_bytes / (2 * device.multiprocessors * groups * group_rows);
      const index_t ahead = row <= share ? row : share / 128 * 128;
      KernelPlan plan;
      plan.family = "assign_groups";
      plan.defines = {define("TS_STEPS", plans.steps), define("TS_CENTROIDS", plans.padded),
                      define("TS_CHUNK", plans.chunk), define("TS_GROUPS", groups),
                      define("TS_STAGES", stages),     define("TS_STAGE_STEPS", stage_steps),
                      define("TS_HELD", held),         define("TS_PARTS", parts),
                      define("TS_AHEAD", ahead)};
      finish(plan, p, Turn::listed_rows,
             device.shared_bytes_per_block - bytes_left(groups, held) + stages * stage,
             4 * groups + (gives ? 4 : 1), 1, 16, device);
      plan.grid = grid_of(ceil_div(p.rows.n, groups * group_rows), device.multiprocessors);
      return ScorePlan{ScoreFamily::groups, std::move(plan)};
    }
  return std::nullopt;
}

/// assign/scores/kernels/assign_producers.cuh
ScorePlan assign_producers_plan(const AssignProblem& p, const AssignPlans& plans, const DeviceInfo& device) {
  constexpr index_t groups = 3, other_warps = 8, group_rows = 64, most_stages = 8, near_centroids = 2048;
  constexpr index_t held_steps = 5;  // of rows in registers, as many as groups have left
  const index_t steps = plans.steps + (plans.confirms ? 1 : 0), stage = steps * 32 * plans.chunk;
  const index_t known =
      plans.confirms ? 0
                     : 2 * groups * group_rows * 16 + (plans.padded <= near_centroids ? 4 * plans.padded : 0);
  const index_t rest = 2 * groups * group_rows * 32 * steps + known + 16 * steps * (p.wide ? 8 : 4) +
                       8 * (2 * most_stages + 4 * groups);
  const index_t stages = std::min(most_stages, (device.shared_bytes_per_block - rest) / stage);
  KernelPlan plan;
  plan.family = "assign_producers";
  plan.defines = {define("TS_STEPS", plans.steps), define("TS_CENTROIDS", plans.padded),
                  define("TS_CHUNK", plans.chunk), define("TS_STAGES", stages),
                  define("TS_HELD", held_steps),   define("TS_CONFIRM", plans.confirms ? 1 : 0)};
  finish(plan, p, Turn::listed_rows, rest + stages * stage, 4 * groups + other_warps, 1, 16, device);
  plan.grid = grid_of(ceil_div(p.rows.n, groups * group_rows), device.multiprocessors);
  return ScorePlan{ScoreFamily::producers, std::move(plan)};
}

AssignPlans assign_plans(const AssignProblem& p, const DeviceInfo& device) {
  constexpr index_t most_steps = 8;        // of a row in registers
  constexpr index_t many_products = 4000;  // centroids times steps
  constexpr index_t few_centroids = 128;   // of whose scores labels are found as fast as confirmed
  AssignProblem of_listed = p;
  of_listed.margin = false;
  AssignPlans plans;
  plans.padded = padded_centroids(p.k);
  if (!p.rows.plain) return plans;
  plans.confirms = p.settled && p.k > few_centroids && column_steps(p.rows.d) <= 4;
  plans.scores = assign_single_plan(p, plans.confirms, device);
  if (!plans.scores) plans.confirms = false, plans.scores = assign_narrow_plan(p, device);
  if (plans.scores && plans.scores->family == ScoreFamily::narrow) {
    if (p.margin) plans.again = assign_narrow_plan(of_listed, device);
    return plans;
  }
  plans.steps = column_steps(p.rows.d);
  if (plans.scores) {
    const auto& defines = plans.scores->kernel.defines;
    // Three products leave little that three would decide.
    const bool decides = !plans.confirms && !p.margin &&
                         std::find(defines.begin(), defines.end(), define("TS_PARTS", 3)) != defines.end();
    if (!p.fast && !decides) plans.again = assign_tensor_plan(of_listed, Turn::listed_rows, 2, device);
    return plans;
  }
  if (device.capability() == 90 && (plans.steps > most_steps || p.k * plans.steps >= many_products)) {
    plans.chunk = p.k <= 64 ? 64 : 128;
    plans.padded = ceil_div(p.k, plans.chunk) * plans.chunk;
    plans.steps = ceil_div(plans.steps, steps_of_stage(p.rows.d)) * steps_of_stage(p.rows.d);
    plans.confirms = p.settled && plans.steps <= most_steps;
    plans.scores = plans.steps <= most_steps ? assign_producers_plan(p, plans, device)
                                             : assign_groups_plan(p, 1, plans, device);
    if (!plans.scores)
      plans.steps = 0;
    else if (!p.fast)
      plans.again = assign_groups_plan(of_listed, 2, plans, device);
  } else if (plans.steps > most_steps) {
    plans.steps = 0;
  } else if (!p.fast && three_products_pay(p, device)) {
    plans.scores = assign_tensor_plan(p, Turn::every_row, 2, device);
    if (p.margin) plans.again = assign_tensor_plan(of_listed, Turn::listed_rows, 2, device);
  } else {
    plans.scores = assign_tensor_plan(p, Turn::every_row, 1, device);
    if (!p.fast) plans.again = assign_tensor_plan(of_listed, Turn::listed_rows, 2, device);
  }
  if (plans.again) plans.again->kernel.grid = grid_of(INT32_MAX, device.multiprocessors);
  return plans;
}

KernelPlan assign_prepare_plan(const AssignProblem& p, const AssignPlans& plans) {
  KernelPlan plan;
  plan.family = "assign_prepare";
  plan.defines = {define("TS_D", p.rows.d), define("TS_STEPS", plans.steps), define("TS_CHUNK", plans.chunk)};
  plan.grid = grid_of(ceil_div(plans.padded, warps_a_block), INT32_MAX);
  plan.block = threads;
  plan.budget = {128, 0};
  return plan;
}

}  // namespace ts::cuda
