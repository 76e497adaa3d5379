#include "tallskinny/gemm/tsmm/cuda/update_plan.hpp"

#include <algorithm>

namespace ts::cuda {
namespace {

/// Sizes that follow from problem and tiling, as kernels/tsmm.cuh computes them.
struct Sizes {
  TallLayout x;
  int rows = 16;  ///< of a chunk
  int pad = 0;    ///< bytes between the two halves of a chunk, modulo 128
  int slot_bytes = 0, factor_bytes = 0;
};

int result_bytes(DType t) {
  return scalar_bytes(t) == 2 ? 4 : static_cast<int>(size_of(t));
}

Sizes sizes_of(const UpdateProblem& problem, const UpdateTiling& t) {
  Sizes s;
  s.x = layout_of(problem.type, problem.p, problem.x);
  const int p = static_cast<int>(problem.p), q = static_cast<int>(problem.q), parts = s.x.parts;
  s.rows = (t.narrow ? 32 : 16) * t.tiles;
  const unsigned base = s.x.mode == TallMode::flat ? s.x.address : 0;
  for (int v = std::min(4, 16 / s.x.scalar); v > 1 && s.x.vector == 1; v /= 2)
    if (s.x.mode != TallMode::by_columns && s.x.row_bytes(1) % (v * s.x.scalar) == 0 && s.x.width % v == 0 &&
        base % static_cast<unsigned>(v * s.x.scalar) == 0)
      s.x.vector = v;
  if (!t.narrow) s.pad = s.x.vector * s.x.scalar == 16 ? (s.x.scalar == 8 ? 16 : 64) : 32;
  int x_bytes;
  if (s.x.mode == TallMode::by_columns)
    x_bytes = round_up(p * (round_up(s.rows * s.x.scalar * parts, 128) + (s.x.scalar == 8   ? 16
                                                                          : s.x.scalar == 4 ? 64
                                                                                            : 32)),
                       128);
  else
    x_bytes =
        round_up(2 * (round_up(s.rows / 2 * s.x.row_bytes(1) + (s.x.shift ? 144 : 0), 128) + s.pad), 128);
  const int y_bytes = s.rows * q * result_bytes(problem.type);
  s.slot_bytes = round_up(problem.accumulate ? x_bytes + y_bytes : std::max(x_bytes, y_bytes), 128);
  s.factor_bytes = t.narrow ? round_up(p * q * result_bytes(problem.type), 128)
                            : (p * parts + 15) / 16 * ((q + 7) / 8) * 32 * 32;
  return s;
}

int shared_bytes(const Sizes& s, const UpdateTiling& t) {
  return round_up(8 * t.groups * t.stages, 128) + s.factor_bytes + t.groups * t.stages * s.slot_bytes;
}

/// What a thread will need: sums, fragments, addresses; more where scalars are read one by one.
int registers_needed(const UpdateProblem& problem, const UpdateTiling& t, const TallLayout& x) {
  const int parts = parts_of(problem.type), q = static_cast<int>(problem.q);
  if (t.narrow) return 40 + t.tiles * parts * (q + 1) * (x.scalar == 8 ? 2 : 1);
  const int blocks = ((q + 7) / 8 + t.group - 1) / t.group, sums = t.tiles * blocks * parts * 4;
  if (!t.split) return 2 * sums + t.tiles * (x.vector == 1 ? 24 : 16) + 32 * parts + 64;
  const bool scattered = x.mode == TallMode::by_columns || (x.vector == 1 && x.scalar == 4);
  return sums + t.tiles * 24 + 32 * parts + (x.scalar == 4 ? 114 : 100) + (scattered ? 18 : 0);
}

}  // namespace

std::vector<UpdateTiling> update_tilings(const UpdateProblem& problem, const BlockLimits& limits) {
  const int parts = parts_of(problem.type), p = static_cast<int>(problem.p) * parts,
            q = static_cast<int>(problem.q) * parts;
  const int element = static_cast<int>(size_of(problem.type));
  const double row_bytes = static_cast<double>(problem.p * element + problem.q * result_bytes(problem.type));
  const int blocks = static_cast<int>((problem.q + 7) / 8), k_blocks = (p + 15) / 16;
  const double memory = 16 * row_bytes / 12;  // cycles of a multiprocessor for 16 rows
  std::vector<UpdateTiling> all;
  for (const bool narrow : {false, true})
    for (const bool split : {false, true})
      for (int tiles : {1, 2, 4, 8})
        for (int group : {1, 2, 4, 8})
          for (int warps : {8, 16, 4}) {
            if (group > warps || (narrow && (p > 8 || q > 8 || group > 1 || split))) continue;
            if (!narrow && ((p <= 8 && q <= 8) || group > blocks)) continue;
            if (split && (scalar_bytes(problem.type) == 8 || p < 24))
              continue;  // few terms: no rounding to hide in
            UpdateTiling t{narrow, split, tiles, group, warps / group, 6, 0};
            const Sizes s = sizes_of(problem, t);
            if (registers_needed(problem, t, s.x) > register_cap(warps)) continue;
            const auto bytes = [&] { return shared_bytes(s, t); };
            while (t.stages > 2 && bytes() > limits.shared_bytes - 1024) --t.stages;
            if (bytes() > limits.shared_bytes - 1024) continue;
            // Cycles for 16 rows: tensor instructions, shared memory, and what keeps too little in flight.
            const double products = k_blocks * blocks * parts;
            const double tensor = narrow ? 0 : products * (split ? 9 : 16);
            // Every warp of a group widens or splits what it loads.
            const double convert = scalar_bytes(problem.type) == 8   ? 0
                                   : split                           ? 26
                                   : scalar_bytes(problem.type) == 4 ? 40
                                                                     : 64;
            const double shared =
                narrow ? memory / 4 : 8.0 * k_blocks * blocks / tiles + (16.0 + convert) * k_blocks * group;
            const double x_share =
                static_cast<double>(problem.p * element) * s.rows * t.groups * (t.stages - 1);
            const double in_flight = std::min(1.0, x_share / (48 * 1024 * problem.p * element / row_bytes));
            const double chunk = s.rows * row_bytes;  // short copies cost
            const bool lines = s.x.mode != TallMode::flat || s.rows / 2 * s.x.row_bytes(1) % 128 == 0;
            t.cost = std::max({memory * (1 + 512 / chunk) / in_flight, tensor * 1.3, shared * 1.5}) +
                     0.2 * tensor + 0.1 * shared;
            // Warps that wait for each other leave gaps that double-precision arithmetic fills.
            const double waits = (group - 1) * (scalar_bytes(problem.type) == 8 ? 0.01 : 0.08);
            t.cost *= (lines ? 1 : 1.05) * (warps < 8 ? 1.3 : 1) * (1 + waits);
            all.push_back(t);
          }
  std::stable_sort(all.begin(), all.end(),
                   [](const UpdateTiling& a, const UpdateTiling& b) { return a.cost < b.cost; });
  return all;
}

index_t update_widest(DType type, const BlockLimits& limits) {
  for (const index_t scalars : {128, 96, 64}) {
    const index_t w = scalars / parts_of(type);
    UpdateProblem problem{type, 1 << 20, w, w, true, {1, 1 << 20, 0}, {1, 1 << 20, 0}};
    bool fits = !update_tilings(problem, limits).empty();
    problem.x = {4 * w, 1, static_cast<unsigned>(scalar_bytes(type))};
    if (fits && !update_tilings(problem, limits).empty()) return w;
  }
  return 32 / parts_of(type);
}

UpdatePlan plan_update(const UpdateProblem& problem, const BlockLimits& limits) {
  return plan_update(problem, limits, update_tilings(problem, limits).front());
}

UpdatePlan plan_update(const UpdateProblem& problem, const BlockLimits& limits, const UpdateTiling& t) {
  const Sizes s = sizes_of(problem, t);
  const bool contiguous =
      problem.y.row_stride == problem.q && (problem.y.column_stride == 1 || problem.q == 1);
  const bool bulk = contiguous && problem.y.address % 16 == 0 &&
                    s.rows * static_cast<int>(problem.q) * result_bytes(problem.type) % 16 == 0;
  const index_t chunks = (problem.rows + s.rows - 1) / s.rows;
  UpdatePlan plan{{}, t};
  KernelPlan& k = plan.kernel;
  k.family = "tsmm";
  k.defines = {define(problem.type),
               define("TS_CORE", t.split),
               define("TS_NARROW", t.narrow),
               define("TS_P", problem.p),
               define("TS_Q", problem.q),
               define("TS_MODE_X", static_cast<int>(s.x.mode)),
               define("TS_PITCH_X", s.x.pitch),
               define("TS_UNIT_X", s.x.unit),
               define("TS_SHIFT_X", s.x.shift),
               define("TS_VECTOR_X", s.x.vector),
               define("TS_PAD_X", s.pad),
               define("TS_BULK_Y", bulk),
               define("TS_ACCUMULATE", problem.accumulate),
               define("TS_ROWS", s.rows),
               define("TS_STAGES", t.stages),
               define("TS_GROUP", t.group),
               define("TS_GROUPS", t.groups),
               define("TS_TILES", t.tiles)};
  k.grid = static_cast<unsigned>(
      std::clamp<index_t>((chunks + t.groups - 1) / t.groups, 1, limits.multiprocessors));
  k.block = static_cast<unsigned>(32 * t.group * t.groups);
  k.shared_bytes = static_cast<std::size_t>(shared_bytes(s, t));
  k.budget.registers = register_cap(t.group * t.groups);
  return plan;
}

}  // namespace ts::cuda
