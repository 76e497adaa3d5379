#include "tallskinny/gemm/project/plan.hpp"

#include <algorithm>

#include "tallskinny/gemm/device/geometry.hpp"

namespace ts::cuda {
namespace {

struct Steps {
  DType type = DType::float64;
  index_t rows = 0, parts = 0;
  int p = 1, q = 1;
  bool update = false, inner = true, gram = true;
  TallOperand v, w;
  [[nodiscard]] bool uses_v() const { return update || inner; }
};

Steps steps_of(const GpuProblem& problem) {
  const Problem& pr = problem.problem;
  Steps s;
  s.type = pr.type, s.rows = pr.n, s.parts = problem.parts, s.q = static_cast<int>(pr.q);
  s.update = pr.operation == Operation::project_out && pr.p > 0;
  s.inner = pr.wants_inner && pr.p > 0, s.gram = pr.wants_gram;
  s.p = static_cast<int>(std::max<index_t>(1, pr.p));
  s.w = tall_operand_of(problem.second, pr.type, pr.n, s.q);
  s.v = pr.p > 0 ? tall_operand_of(problem.first, pr.type, pr.n, s.p) : s.w;
  return s;
}

/// Sizes that follow from steps and tiling, as project/kernels/project.cuh computes them.
struct Sizes {
  TallLayout v, w;
  int subs = 4;
  int k_blocks = 0, column_blocks = 0;   ///< of the update
  int left_tiles = 0, right_blocks = 0;  ///< of the products
  int tiles_left = 0, tiles_right = 0;   ///< of those, of a warp
  int slot_bytes = 0, factor_bytes = 0, product_bytes = 0;
};

int stage_bytes(const TallLayout& s, int subs, int rows) {
  if (s.mode == TallMode::by_columns) {
    const int apart = s.scalar == 8 ? 16 : 64;
    return round_up(s.width / s.parts * (round_up(rows * s.parts * s.scalar, 128) + apart), 128);
  }
  return round_up(
      subs * (round_up(rows / subs * s.row_bytes(1) + (s.shift ? 144 : 0), 128) + (subs == 1 ? 0 : 32)), 128);
}

Sizes sizes_of(const Steps& steps, const ProjectTiling& t) {
  Sizes s;
  s.v = layout_of(steps.type, steps.p, steps.v), s.w = layout_of(steps.type, steps.q, steps.w);
  if (s.w.mode == TallMode::by_columns || (steps.uses_v() && s.v.mode == TallMode::by_columns)) s.subs = 1;
  const unsigned base = s.v.mode == TallMode::flat ? s.v.address : 0;
  for (int n = 16 / s.v.scalar; n > 1 && s.v.vector == 1; n /= 2)
    if (s.v.mode != TallMode::by_columns && s.v.row_bytes(1) % (n * s.v.scalar) == 0 && s.v.width % n == 0 &&
        base % static_cast<unsigned>(n * s.v.scalar) == 0)
      s.v.vector = n;
  s.k_blocks = (s.v.width + 15) / 16, s.column_blocks = (steps.q + 7) / 8;
  s.left_tiles = (steps.inner ? (s.v.width + 15) / 16 : 0) + (steps.gram ? (s.w.width + 15) / 16 : 0);
  s.right_blocks = (s.w.width + 7) / 8;
  s.tiles_left = std::max(1, (s.left_tiles + t.group_left - 1) / t.group_left);
  s.tiles_right = (s.right_blocks + t.group_right - 1) / t.group_right;
  s.slot_bytes =
      (steps.uses_v() ? stage_bytes(s.v, s.subs, 16 * t.tiles) : 0) + stage_bytes(s.w, s.subs, 16 * t.tiles);
  s.factor_bytes = steps.update ? s.k_blocks * s.column_blocks * 32 * 32 : 0;
  s.product_bytes = t.groups * 16 * s.left_tiles * (8 * s.right_blocks + 2) * 8;
  return s;
}

int shared_bytes(const Sizes& s, const ProjectTiling& t) {
  return round_up(8 * t.groups * (t.stages + 1), 128) + s.factor_bytes +
         std::max(t.groups * t.stages * s.slot_bytes, s.product_bytes);
}

/// What a thread will need: the sums of the products, and those and the fragments of the update.
int registers_needed(const Steps& steps, const Sizes& s) {
  const bool products = steps.inner || steps.gram;
  const int kept = products ? 8 * s.tiles_left * s.tiles_right + 2 * s.tiles_left + s.tiles_right : 0;
  const int at_once = std::min(s.column_blocks, 4 / s.v.parts) * s.v.parts;
  const int update = steps.update ? 8 * at_once + 24 + 8 * s.v.parts : 0;
  // Copies unit by unit and rows that are strided keep more addresses.
  const bool scattered = s.w.mode != TallMode::flat || (steps.uses_v() && s.v.mode != TallMode::flat);
  return kept + std::max(update, products ? 8 * s.tiles_right + 16 : 0) + 56 + (scattered ? 32 : 0) +
         (steps.parts > 0 ? 32 : 0);  // what depends on the part is in no constants
}

/// Every tiling that fits into registers and shared memory, best first.
std::vector<ProjectTiling> tilings_of(const Steps& steps, const BlockLimits& limits) {
  const int parts = parts_of(steps.type), element = static_cast<int>(size_of(steps.type));
  const double row_bytes =
      element * (steps.p * (steps.uses_v() ? 1.0 : 0.0) + steps.q * (steps.update ? 2.0 : 1.0));
  const double memory = 16 * row_bytes / 12;  // cycles of a multiprocessor for 16 rows
  std::vector<ProjectTiling> all;
  for (const int tiles : {1, 2, 4, 8, 16})
    for (const int left : {1, 2, 4, 8})
      for (const int right : {1, 2, 4, 8})
        for (const int warps : {8, 16, 4}) {
          if (left * right > warps) continue;
          ProjectTiling t{tiles, left, right, warps / (left * right), 6, 0};
          const Sizes s = sizes_of(steps, t);
          if ((s.left_tiles > 0 && left > s.left_tiles) || right > s.right_blocks ||
              s.tiles_left * s.tiles_right > 18)
            continue;
          if (registers_needed(steps, s) > register_cap(warps)) continue;
          while (t.stages > 2 && shared_bytes(s, t) > limits.shared_bytes - 1024) --t.stages;
          if (shared_bytes(s, t) > limits.shared_bytes - 1024) continue;
          // Cycles for 16 rows: tensor instructions, and the issue of loads from shared memory.
          const double updates = steps.update ? s.k_blocks * s.column_blocks * parts : 0;
          const double products = s.tiles_left * left * s.tiles_right * right;
          const double tensor = 16 * (updates + products);
          const double widen = scalar_bytes(steps.type) == 8 ? 1 : 2;
          const double loads = updates * 4 + (steps.update ? 8 * widen * s.k_blocks : 0) +
                               widen * left * right * (8 * s.tiles_left + 4 * s.tiles_right);
          const double slot_rows_bytes = 16.0 * tiles * row_bytes;
          const double in_flight = std::min(1.0, t.groups * (t.stages - 1.5) * slot_rows_bytes / (48 * 1024));
          // Few rows in a chunk leave warps of a group without work in the update.
          const int runs_of_tile = (s.column_blocks * parts + 3) / 4;
          const double runs = tiles * runs_of_tile, warps_of_group = left * right;
          const double idle = steps.update ? std::max(1.0, warps_of_group / runs) : 1.0;
          t.cost =
              std::max({memory * (1 + 1024 / slot_rows_bytes) / in_flight, tensor * 1.3 * idle, loads * 2}) +
              0.2 * tensor * idle + 0.1 * loads;
          t.cost *= (warps < 8 ? 1.2 : 1) * (1 + 0.03 * (warps_of_group - 1));
          all.push_back(t);
        }
  std::stable_sort(all.begin(), all.end(),
                   [](const ProjectTiling& a, const ProjectTiling& b) { return a.cost < b.cost; });
  return all;
}

KernelPlan plan_of(const Steps& steps, const BlockLimits& limits, const ProjectTiling& t) {
  const Sizes s = sizes_of(steps, t);
  const int rows = 16 * t.tiles;
  const bool contiguous = steps.w.row_stride == steps.q && (steps.w.column_stride == 1 || steps.q == 1);
  const bool bulk = contiguous && steps.w.address % 16 == 0 && s.w.mode == TallMode::flat &&
                    rows / s.subs * s.w.row_bytes(1) % 16 == 0;
  const index_t chunks = ceil_div(steps.rows, rows);
  KernelPlan k;
  k.family = "project";
  k.defines = {define(steps.type),
               define("TS_CORE", 0),
               define("TS_UPDATE", steps.update),
               define("TS_INNER", steps.inner),
               define("TS_GRAM", steps.gram),
               define("TS_P", steps.p),
               define("TS_Q", steps.q),
               define("TS_MODE_V", static_cast<int>(s.v.mode)),
               define("TS_PITCH_V", s.v.pitch),
               define("TS_UNIT_V", s.v.unit),
               define("TS_SHIFT_V", s.v.shift),
               define("TS_VECTOR_V", s.v.vector),
               define("TS_MODE_W", static_cast<int>(s.w.mode)),
               define("TS_PITCH_W", s.w.pitch),
               define("TS_UNIT_W", s.w.unit),
               define("TS_SHIFT_W", s.w.shift),
               define("TS_BULK_W", bulk),
               define("TS_PARTS", steps.parts > 0),
               define("TS_SUBS", s.subs),
               define("TS_TILES", t.tiles),
               define("TS_STAGES", t.stages),
               define("TS_GROUP_L", t.group_left),
               define("TS_GROUP_R", t.group_right),
               define("TS_GROUPS", t.groups),
               define("TS_TILES_L", s.tiles_left),
               define("TS_TILES_R", s.tiles_right)};
  k.grid = grid_of(ceil_div(chunks, t.groups), limits.multiprocessors);
  const int warps = t.group_left * t.group_right * t.groups;
  k.block = static_cast<unsigned>(32 * warps);
  k.shared_bytes = static_cast<std::size_t>(shared_bytes(s, t));
  const index_t results = ((steps.inner ? steps.p : 0) + (steps.gram ? steps.q : 0)) * index_t{steps.q};
  const int blocks = static_cast<int>(k.grid), group = group_size_of(blocks);
  k.workspace_bytes =
      static_cast<std::size_t>((blocks + ceil_div(blocks, group)) * results * parts_of(steps.type)) *
      sizeof(double);
  const index_t parts = std::max<index_t>(1, steps.parts);
  k.grid *= static_cast<unsigned>(parts), k.workspace_bytes *= static_cast<std::size_t>(parts);
  k.budget = {register_cap(warps), 1024};
  return k;
}

}  // namespace

ProjectPanels project_panels(DType type, index_t p, index_t q, const BlockLimits& limits, bool in_parts) {
  const auto fits = [&](index_t v, index_t w) {
    // However they lie: by columns and by unaligned rows.
    Steps steps{type, 1 << 20, in_parts ? 1 : 0, static_cast<int>(v), static_cast<int>(w), true,
                true, true,    {1, 1 << 20, 0},  {1, 1 << 20, 0}};
    if (v > 4096 || tilings_of(steps, limits).empty()) return false;
    const auto odd = static_cast<unsigned>(scalar_bytes(type));
    steps.v = {4 * v, 1, odd}, steps.w = {4 * w, 1, odd};
    return !tilings_of(steps, limits).empty();
  };
  const auto share = [](index_t columns, index_t panels) {
    return std::max<index_t>(1, ceil_div(columns, panels));
  };
  for (index_t w_panels = 1;; ++w_panels) {
    const index_t w = share(q, w_panels);
    // Narrow panels of W read V again and again: V is cut before they are narrower than 8 scalars.
    const bool last = w * parts_of(type) <= 16;
    for (index_t v_panels = 1; v_panels == 1 || (last && v_panels <= p); ++v_panels) {
      // Panels of W stand for V, too, where W is cut.
      const index_t v = share(p, v_panels);
      if (fits(w_panels > 1 ? std::max(v, w) : v, w)) return {v, w};
    }
    if (w == 1) return {1, 1};
  }
}

std::vector<Candidate> project_candidates(const GpuProblem& problem, const DeviceInfo& device) {
  const Problem& pr = problem.problem;
  if (pr.operation != Operation::inner_and_gram && pr.operation != Operation::project_out) return {};
  if (pr.n < 1 || pr.p < 0 || pr.q < 1 || pr.p > 4096 || scalar_bytes(pr.type) == 2) return {};
  const Steps steps = steps_of(problem);
  if (!steps.update && !steps.inner && !steps.gram) return {};
  const BlockLimits limits = part_limits_of(device, problem, 1);
  return candidates_of(tilings_of(steps, limits), pr, device, limits.shared_bytes,
                       [&](const ProjectTiling& t) { return plan_of(steps, limits, t); });
}

}  // namespace ts::cuda
