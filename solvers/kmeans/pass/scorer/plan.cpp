#include "tallskinny/solvers/kmeans/pass/scorer/plan.hpp"

#include <algorithm>
#include <type_traits>

#include "tallskinny/gemm/device/tall_operand.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

namespace ts::inline v0::cuda {

namespace {

/// Rows that a kernel takes.
enum class Turn { every_row, listed_rows };

/// Fills in the part that all kernels with scores share: loads of a row, place of sums, and grid. The number of listed
/// rows is not known yet.
template <class P>
KernelPlan plan_with(std::string_view kernel, P policy, const AssignProblem& p, Turn turn, const DeviceInfo& device) {
  static_assert(std::is_same_v<typename P::Arguments, ScoresArguments>);
  constexpr index_t most_rows = 1 << 15;  // of a block with sums of halves of limbs
  const auto size = static_cast<int>(size_of(p.rows.type));
  const Piece piece = widest_piece(at(size), {Layout::row_major, false, p.rows.alignment}, p.rows.d);
  policy.vector = std::min(piece.count, P::most_vector);
  policy.alignment = std::min(piece.alignment, policy.vector * size);
  policy.fast = p.fast;
  P on_chip = policy;
  on_chip.on_chip = true;
  const bool few = p.k * p.rows.d <= device.shared_bytes_per_block;  // so that bytes are an int
  if (turn == Turn::every_row && !p.first && few &&
      policy.blocks * (index_t{on_chip.shared_bytes()} + 1024) <= device.shared_bytes_per_multiprocessor &&
      on_chip.shared_bytes() <= device.shared_bytes_per_block)
    policy = on_chip;
  KernelPlan plan = kmeans_plan_of(kernel, policy);
  const index_t at_once = policy.blocks * device.multiprocessors, block_rows = policy.warps * policy.warp_rows();
  const index_t waves =
      policy.on_chip ? std::max<index_t>(1, ceil_div(p.rows.n, at_once * (most_rows - block_rows))) : 1;
  plan.grid = grid_of(ceil_div(p.rows.n, block_rows), waves * at_once);
  plan.block = static_cast<unsigned>(policy.threads());
  plan.shared_bytes = at(policy.shared_bytes());
  plan.budget = {policy.registers(), 0};
  return plan;
}

/// The fields that every score policy begins with.
template <class P>
P policy_for(const AssignProblem& p) {
  P policy;
  policy.type = p.rows.type, policy.d = static_cast<int>(p.rows.d), policy.wide = p.wide;
  return policy;
}

constexpr int as_int(index_t x) noexcept { return static_cast<int>(x); }

}  // namespace

std::optional<ScorePlan> assign_narrow_plan(const AssignProblem& p, const DeviceInfo& device) {
  constexpr index_t most_columns = 16, most_products = 384, most_centroids = 128;
  if (p.rows.d > most_columns || p.rows.d * p.k > most_products || p.k > most_centroids) return std::nullopt;
  const index_t size = static_cast<index_t>(size_of(p.rows.type));
  auto policy = policy_for<NarrowPolicy>(p);
  policy.groups = as_int(ceil_div(p.k, 4));
  // A warp should have 2 KiB of loads under way, and registers for its rows.
  policy.rows = as_int(std::min<index_t>(
      8, std::clamp<index_t>(64 / (p.rows.d * size), 2,
                             std::max<index_t>(2, (p.wide || p.rows.d % 4 != 0 ? 16 : 32) / p.rows.d))));
  policy.blocks = 2;
  return ScorePlan{.kernel = plan_with("assign_narrow", policy, p, Turn::every_row, device)};
}

/// scorer/kernels/assign_single.cuh, where it can serve: what was fastest on an H100 among such
/// settings.
std::optional<ScorePlan> assign_single_plan(const AssignProblem& p, const DeviceInfo& device) {
  constexpr index_t most_steps = 8, most_tiles = 64, few_tiles = 8, group_registers = 64;
  constexpr index_t most_products_of_lanes = 384;  // of float32, below which assign_narrow is as fast
  const index_t steps = column_steps(p.rows.d), tiles = padded_centroids(p.k) / 8;
  const auto size = static_cast<index_t>(size_of(p.rows.type));
  const bool halves = p.rows.type == DType::float16, many = tiles > few_tiles;
  if (!p.rows.plain || !p.raw || p.wide || p.rows.d % 4 != 0 || p.rows.alignment < 4 * size || steps > most_steps ||
      tiles > most_tiles || (!halves && p.rows.d < 16 && p.k * p.rows.d <= most_products_of_lanes))
    return std::nullopt;
  // Float16 rows are exact: lower parts of centroids leave less undecided where they cost little. Of float32 rows
  // three products do where bytes hide them, or where they cost less than clustered rows that one leaves
  // undecided.
  const bool cheap = tiles <= 2 * steps || (steps == 1 && !many);
  const index_t parts = p.fast                                ? 1
                        : halves                              ? (steps <= 2 && !many ? 2 : 1)
                        : p.rows.d > 8 && steps <= 4 && cheap ? 3
                                                              : 1;
  auto policy = policy_for<TensorPolicy>(p);
  policy.raw = true, policy.steps = as_int(steps), policy.parts = as_int(parts);
  policy.tiles = policy.chunk = as_int(tiles);
  policy.packed = p.rows.packed;
  const index_t shared = policy.shared_bytes();
  if (shared + 2048 > device.shared_bytes_per_block) return std::nullopt;
  const bool streaming = !halves && many && steps <= 2;
  const index_t rows = streaming || (steps == 1 && tiles <= 4 && parts != 3) ? 4 : 2;
  const index_t raw = 2 * rows * steps * size;  // words of rows under way
  const bool ahead = !streaming && raw <= (halves ? 64 : 32);
  index_t group = streaming ? 0 : !halves && steps > 1 ? 4 : 8;
  while (group > 0 && (tiles % group != 0 || 4 * rows * group > group_registers)) group /= 2;
  if (group == 1) group = 0;
  const bool heavy = 4 * rows * steps * (parts == 3 ? 2 : 1) + (ahead ? raw : 0) > 56;
  const index_t most_blocks = heavy ? 1 : 2;
  const index_t blocks = std::clamp<index_t>(device.shared_bytes_per_multiprocessor / (shared + 2048), 1, most_blocks);
  policy.row_tiles = as_int(rows), policy.group = as_int(group), policy.ahead = ahead;
  policy.blocks = as_int(blocks), policy.warps = blocks == 1 ? 12 : 8;
  ScorePlan plan{.kernel = plan_with("assign_single", policy, p, Turn::every_row, device), .raw = true, .unit = 1};
  plan.kernel.budget.shared_bytes = policy.static_bytes();
  return plan;
}

ScorePlan assign_tensor_plan(const AssignProblem& p, Turn turn, index_t parts, const DeviceInfo& device) {
  constexpr index_t most_tiles = 32;           // of a chunk: the number of a centroid takes bits of its score
  constexpr index_t most_buffered = 64 << 10;  // bytes of one of two chunks that come and go
  const index_t steps = column_steps(p.rows.d), tiles = padded_centroids(p.k) / 8;
  auto policy = policy_for<TensorPolicy>(p);
  policy.steps = as_int(steps), policy.tiles = as_int(tiles), policy.parts = as_int(parts);
  policy.chunk = as_int(std::min(tiles, most_tiles)), policy.paired = turn == Turn::listed_rows;
  policy.resident = policy.shared_bytes() <= device.shared_bytes_per_block;
  if (!policy.resident)
    policy.chunk = as_int(std::min(index_t{policy.chunk}, most_buffered * policy.chunk / policy.chunk_bytes()));
  const index_t shared = policy.shared_bytes();
  // Tiles of 16 rows: as many as the registers of a warp hold with all their columns.
  const index_t held = (p.rows.type == DType::float64 ? 2 : 1) * steps * parts;
  policy.row_tiles = held <= 2 && tiles <= policy.chunk ? 4 : held <= (policy.resident ? 8 : 6) ? 2 : 1;
  const bool twice = policy.resident && 2 * (shared + 1024) <= device.shared_bytes_per_multiprocessor;
  // With 56 registers of fragments and more, a warp needs more than the 128 that 16 of them have.
  const bool heavy = 4 * parts * policy.row_tiles * steps >= 56 || (p.rows.type == DType::float64 && !policy.resident);
  policy.blocks = twice ? 2 : 1, policy.warps = (heavy ? 12 : 16) / policy.blocks;
  return {.kernel = plan_with("assign_scores", policy, p, turn, device), .pairs = policy.paired};
}

/// Steps that assign_slabs has in registers: sums of more lose more.
constexpr index_t slab_steps = 2;

/// Any number of columns and centroids, on any device.
ScorePlan assign_slabs_plan(const AssignProblem& p, Turn turn, index_t parts, index_t steps, const DeviceInfo& device) {
  auto policy = policy_for<SlabsPolicy>(p);
  policy.steps = as_int(steps), policy.slab = as_int(slab_steps), policy.parts = as_int(parts);
  policy.row_tiles = parts == 1 && p.rows.type != DType::float64 ? 2 : 1;
  // With more tiles, whose scores are four registers for each of rows, compilers spill.
  const int most_tiles = policy.row_tiles == 1 ? 16 : !policy.chained() ? 8 : p.wide ? 12 : 16;
  policy.tiles = as_int(padded_centroids(p.k) / 8), policy.chunk = std::min(policy.tiles, most_tiles);
  policy.paired = turn == Turn::listed_rows;
  return {.kernel = plan_with("assign_slabs", policy, p, turn, device), .slabs = true, .pairs = policy.paired};
}

/// Steps that assign_groups has in a stage: rows are padded to whole stages.
index_t steps_of_stage(index_t d) {
  const index_t steps = column_steps(d);
  return steps % 4 == 0 || steps > 16 ? 4 : steps % 2 == 0 || steps > 4 ? 2 : 1;
}

/// Steps of a row that each warpgroup can have in registers, with its scores, or with columns that are being loaded.
index_t most_held_steps(const GroupsPolicy& policy) {
  constexpr int scores = 64;
  const bool few = policy.raw || policy.listed || policy.groups > 2;
  const int others = (few ? 56 : 68) + (policy.bounded ? 16 : 0);
  const index_t free = registers_left(policy.consumers(), 4, policy.producer_registers()) - scores - others;
  const index_t unit = std::max(policy.stage_steps, 2);
  return free / 4 / unit * unit;
}

/// Centroids that rows are scored against: all, or those listed for a tile, whose scores may leave bounds; or all, to
/// collect candidates.
struct ScoredCentroids {
  bool listed = false, bounded = false, to_collect = false;
};

/// scorer/kernels/assign_groups.cuh with as many warpgroups as find memory; none where not even one
/// does.
std::optional<ScorePlan> assign_groups_plan(const AssignProblem& p, index_t parts, const AssignPlans& plans,
                                            const DeviceInfo& device, ScoredCentroids scored = {}) {
  const bool listed = scored.listed;
  constexpr index_t least_stages = 3;
  constexpr index_t wanted_ring = 64 << 10;  // bytes: for less of it rows go into registers, then groups go
  // Sums stage by stage need twice the registers.
  const index_t most_groups = parts == 1 ? 3 : 2;
  const index_t most_steps = parts == 1 ? 4 : 2;  // sums of more lose more
  auto policy = policy_for<GroupsPolicy>(p);
  policy.steps = as_int(plans.steps), policy.centroids = as_int(plans.padded), policy.chunk = as_int(plans.chunk);
  policy.parts = as_int(parts), policy.listed = listed, policy.bounded = scored.bounded;
  policy.collects = scored.to_collect;
  // Float16 numbers are multiplied raw: without a shift nothing of them is lost, and sixteen bytes are eight of them.
  const bool raw = p.raw && p.rows.type == DType::float16 && parts == 1 && !listed && !p.wide && p.rows.d % 8 == 0 &&
                   p.rows.alignment >= 16;
  policy.raw = raw;
  const auto bytes_left = [&](index_t held) {
    policy.held = as_int(held);
    return device.shared_bytes_per_block - policy.shared_bytes();
  };
  for (policy.groups = as_int(most_groups); policy.groups > 0; --policy.groups)
    for (index_t stage_steps = std::min(steps_of_stage(p.rows.d), most_steps); stage_steps > (listed ? 1 : 0);
         stage_steps /= 2) {
      policy.stage_steps = as_int(stage_steps), policy.stages = 0;
      const bool holds = parts == 1 && plans.padded > plans.chunk && bytes_left(0) < wanted_ring;
      const index_t held = holds ? std::min(plans.steps, most_held_steps(policy)) : 0;
      const index_t left = bytes_left(held);
      if (holds && policy.groups > 1 && left < wanted_ring) continue;
      policy.stages = as_int(std::min<index_t>(policy.most_stages, left / policy.stage_bytes()));
      if (policy.stages < least_stages) continue;
      const bool gives = held > 0 || p.wide || listed;  // the copying warps, a group then, their registers
      policy.warps = policy.consumers() + (gives ? 4 : 1);
      // Rows that all blocks take next are fetched ahead as far as the cache holds them beside the centroids.
      const index_t row = p.rows.d * static_cast<index_t>(size_of(p.rows.type)), rows = policy.groups * group_rows;
      const index_t share = device.l2_bytes / (2 * device.multiprocessors * rows);
      policy.ahead = as_int(row <= share ? row : share / 128 * 128);
      ScorePlan plan{
          .kernel = plan_with("assign_groups", policy, p, Turn::listed_rows, device), .raw = raw, .pairs = true};
      plan.kernel.grid = grid_of(ceil_div(p.rows.n, rows), device.multiprocessors);
      return plan;
    }
  return std::nullopt;
}

/// Plan of assign_groups with warps that make rows ready.
ScorePlan assign_producers_plan(const AssignProblem& p, const AssignPlans& plans, const DeviceInfo& device) {
  constexpr int most_held = 5;  // steps of rows in registers, as many as groups have left
  auto policy = policy_for<GroupsPolicy>(p);
  policy.steps = as_int(plans.steps), policy.centroids = as_int(plans.padded), policy.chunk = as_int(plans.chunk);
  policy.confirms = plans.confirms, policy.groups = 3, policy.producers = 7;
  policy.stage_steps = policy.all_steps(), policy.held = std::min(policy.all_steps(), most_held);
  policy.stages = as_int(std::min<index_t>(
      policy.most_stages, (device.shared_bytes_per_block - policy.shared_bytes()) / policy.stage_bytes()));
  policy.warps = policy.consumers() + policy.producers + 1;
  ScorePlan plan{.kernel = plan_with("assign_groups", policy, p, Turn::listed_rows, device)};
  plan.kernel.grid = grid_of(ceil_div(p.rows.n, policy.groups * group_rows), device.multiprocessors);
  return plan;
}

bool takes_line(const AssignProblem& p) noexcept {
  constexpr index_t few_centroids = 128;  // that assign_narrow scores in any order
  return p.rows.d == 1 && p.k > few_centroids;
}

AssignPlans assign_plans(const AssignProblem& p, const DeviceInfo& device) {
  constexpr index_t most_steps = 8;        // of a row in registers
  constexpr index_t many_products = 4000;  // centroids times steps
  AssignPlans plans;
  plans.padded = padded_centroids(p.k);
  if (!p.rows.plain || takes_line(p)) return plans;
  plans.scores = assign_single_plan(p, device);
  if (!plans.scores) {
    plans.scores = assign_narrow_plan(p, device);
    if (plans.scores) return plans;
  }
  plans.steps = column_steps(p.rows.d);
  if (plans.scores) {
    // Three products leave little that three would decide.
    const bool decides = policy_of<TensorPolicy>(plans.scores->kernel).parts == 3;
    if (!p.fast && !decides) plans.again = assign_tensor_plan(p, Turn::listed_rows, 2, device);
    return plans;
  }
  if (device.features().warpgroups && (plans.steps > most_steps || p.k * plans.steps >= many_products)) {
    plans.chunk = p.k <= 64 ? 64 : 128;
    plans.padded = ceil_div(p.k, plans.chunk) * plans.chunk;
    plans.steps = ceil_div(plans.steps, steps_of_stage(p.rows.d)) * steps_of_stage(p.rows.d);
    plans.confirms = p.stable && plans.steps <= most_steps;
    plans.scores =
        plans.steps <= most_steps ? assign_producers_plan(p, plans, device) : assign_groups_plan(p, 1, plans, device);
    if (plans.scores && !p.fast) plans.again = assign_groups_plan(p, 2, plans, device);
    if (plans.scores && plans.scores->pairs && !plans.again && !p.fast)
      plans.collect = assign_groups_plan(p, 1, plans, device, {.to_collect = true});
  }
  if (!plans.scores) {  // by tensor instructions of a warp
    plans.chunk = 0, plans.confirms = false, plans.padded = padded_centroids(p.k), plans.steps = column_steps(p.rows.d);
    const bool slabs = plans.steps > most_steps;
    if (slabs) plans.steps = ceil_div(plans.steps, slab_steps) * slab_steps;
    const auto plan = [&](const AssignProblem& of, Turn turn, index_t parts) {
      return slabs ? assign_slabs_plan(of, turn, parts, plans.steps, device)
                   : assign_tensor_plan(of, turn, parts, device);
    };
    plans.scores = plan(p, Turn::every_row, 1);
    if (!p.fast) plans.again = plan(p, Turn::listed_rows, 2);
  }
  for (std::optional<ScorePlan>* const p_rows : {&plans.again, &plans.collect})
    if (*p_rows) (*p_rows)->kernel.grid = grid_of(INT32_MAX, device.multiprocessors);
  return plans;
}

std::optional<ScorePlan> assign_listed_plan(const AssignProblem& p, const AssignPlans& plans, const DeviceInfo& device,
                                            bool bounded) {
  if (!device.features().warpgroups || plans.chunk != 128 || p.fast) return std::nullopt;
  return assign_groups_plan(p, 1, plans, device, {true, bounded});
}

std::optional<ProductPlans> product_plans(const AssignProblem& p, const AssignPlans& plans, const DeviceInfo& device) {
  constexpr double least_products = 1e11;  // assign_slabs takes a millisecond for them, and cuBLAS 0.2
  constexpr index_t least_rows = 256;
  // All products are written and read again, which few columns do not pay for: on an H200 a late pass of (10^6, 256,
  // 1000) in float16 takes 3.4 ms by assign_slabs.
  constexpr index_t least_columns = 384;
  const double products = static_cast<double>(p.rows.n) * static_cast<double>(p.k) * static_cast<double>(p.rows.d);
  if (!plans.scores || !plans.scores->slabs || products < least_products || p.rows.d < least_columns)
    return std::nullopt;
  const index_t line = 32 * plans.steps, of_row = 4 * plans.padded;  // bytes
  ProductPlans found;
  found.rows = std::max(least_rows, most_product_bytes / std::max(line, of_row) / least_rows * least_rows);
  const auto size = static_cast<int>(size_of(p.rows.type));
  const Piece piece = widest_piece(at(size), {Layout::row_major, false, p.rows.alignment}, p.rows.d);
  auto policy = policy_for<RoundPolicy>(p);
  policy.steps = as_int(plans.steps), policy.vector = std::min(piece.count, RoundPolicy::most_vector);
  policy.alignment = std::min(piece.alignment, policy.vector * size);
  if (policy.shared_bytes() > device.shared_bytes_per_block) return std::nullopt;
  found.round = warps_plan("assign_round", policy, found.rows, device);
  found.round.shared_bytes = at(policy.shared_bytes());
  const MinimaPolicy minima{p.rows.type, as_int(p.rows.d), as_int(plans.steps), p.fast};
  found.minima = warps_plan("assign_minima", minima, found.rows, device);
  found.round.budget = {64, 0}, found.minima.budget = {64, MinimaPolicy::shared_bytes};
  return found;
}

KernelPlan assign_prepare_plan(const AssignProblem& p, const AssignPlans& plans) {
  const PreparePolicy policy{as_int(p.rows.d), as_int(plans.steps), as_int(plans.chunk)};
  KernelPlan plan = threads_plan("assign_prepare", policy, 32 * plans.padded);
  plan.budget.shared_bytes = PreparePolicy::shared_bytes;
  return plan;
}

}  // namespace ts::inline v0::cuda
