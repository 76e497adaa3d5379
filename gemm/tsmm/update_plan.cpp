#include "tallskinny/gemm/tsmm/update_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ts::cuda {
namespace {

/// Sizes that follow from problem and tiling, as tsmm/kernels/tsmm_chunk.cuh computes them.
struct Sizes {
  TallLayout x;
  int rows = 16;           ///< of a chunk
  int pad = 0;             ///< bytes by which sub-blocks start further apart than they are long
  bool columns_y = false;  ///< Y lies by columns
  int unit_y = 16;         ///< bytes of Y that are moved at once
  int slot_bytes = 0, factor_bytes = 0;
};

int result_bytes(DType t) {
  return scalar_bytes(t) == 2 ? 4 : static_cast<int>(size_of(t));
}

Sizes sizes_of(const UpdateProblem& problem, const UpdateTiling& t) {
  Sizes s;
  s.x = layout_of(problem.type, problem.p, problem.x);
  const int p = static_cast<int>(problem.p), q = static_cast<int>(problem.q), parts = s.x.parts;
  const int team_rows = (t.narrow ? 32 : 16) * t.tiles, result = result_bytes(problem.type);
  s.rows = team_rows * t.teams;
  s.columns_y = problem.y.column_stride != 1 && q > 1;
  s.unit_y = static_cast<int>(
      std::gcd(std::gcd(index_t{16}, static_cast<index_t>(problem.y.address)),
               std::gcd(result * (s.columns_y ? problem.y.column_stride : problem.y.row_stride),
                        s.columns_y ? index_t{16} : problem.q * result)));
  if (s.x.mode == TallMode::by_columns) {
    s.x.shift = s.x.unit < 16, s.x.unit = 16;
    s.x.vector = s.x.address % static_cast<unsigned>(s.x.scalar * parts) == 0 ? parts : 1;
  }
  const unsigned base = s.x.mode == TallMode::flat ? s.x.address : 0;
  for (int v = std::min(4, 16 / s.x.scalar); v > 1 && s.x.vector == 1; v /= 2)
    if (s.x.mode != TallMode::by_columns && s.x.row_bytes(1) % (v * s.x.scalar) == 0 && s.x.width % v == 0 &&
        base % static_cast<unsigned>(v * s.x.scalar) == 0)
      s.x.vector = v;
  const int y_team = s.columns_y ? q * (team_rows * result + 16) : team_rows * q * result;
  int x_bytes, y_bytes = t.teams * y_team;
  if (s.x.mode == TallMode::by_columns) {
    x_bytes = round_up(p * (round_up(s.rows * s.x.scalar * parts, 128) + 32), 128);
  } else {
    const int subs = t.narrow ? 1 : 2;
    const int sub_bytes = round_up(team_rows / subs * s.x.row_bytes(1) + (s.x.shift ? 144 : 0), 128);
    if (!t.narrow) s.pad = s.x.vector * s.x.scalar == 16 ? (s.x.scalar == 8 ? 16 : 64) : 32;
    // Results take the place of the rows.
    if (!problem.accumulate) s.pad += round_up(std::max(0, y_team - subs * (sub_bytes + s.pad)) / subs, 128);
    x_bytes = round_up((t.teams * subs - 1) * (sub_bytes + s.pad) + sub_bytes, 128);
    if (!problem.accumulate) y_bytes = (t.teams - 1) * subs * (sub_bytes + s.pad) + y_team;
  }
  s.slot_bytes = round_up(problem.accumulate ? x_bytes + y_bytes : std::max(x_bytes, y_bytes), 128);
  s.factor_bytes = t.narrow ? round_up(p * round_up(q * result, 16), 128)
                            : (p * parts + 15) / 16 * ((q + 7) / 8) * 32 * 32;
  return s;
}

int shared_bytes(const Sizes& s, const UpdateTiling& t) {
  const int most_stages = (t.slots + t.groups - 1) / t.groups;
  return round_up(24 * t.groups * most_stages, 128) + s.factor_bytes + t.slots * s.slot_bytes;
}

/// What a thread will need: sums, fragments, addresses; more where scalars are read one by one.
int registers_needed(const UpdateProblem& problem, const UpdateTiling& t, const TallLayout& x) {
  const int parts = parts_of(problem.type), q = static_cast<int>(problem.q);
  if (t.warpgroup)
    return 8 * ((q + 7) / 8) * parts + 116 + (x.mode == TallMode::by_columns ? 20 : x.vector < 4 ? 16 : 0);
  if (t.narrow) return 60 + (t.tiles * (parts * q + 5) + parts * q) * (x.scalar == 8 ? 2 : 1);
  const int blocks = ((q + 7) / 8 + t.column_warps - 1) / t.column_warps, sums = t.tiles * blocks * parts * 4;
  const bool scattered = x.mode == TallMode::by_columns || (x.vector == 1 && x.scalar == 4);
  if (parts == 2)
    return t.split ? sums * 7 / 5 + 44 * t.tiles + 88 + (scattered ? 18 : 0)
                   : sums * 5 / 2 + 36 * t.tiles + 72 + (x.vector == 1 ? 8 * t.tiles : 0) +
                         (blocks > 1 ? 16 : 0) + (q % 8 != 0 ? 8 : 0);
  if (!t.split) return 2 * sums + t.tiles * (x.vector == 1 ? 24 : 16) + (t.warps() > 8 ? 112 : 96);
  return sums + t.tiles * 24 + (x.scalar == 4 ? 146 : 132) + (scattered ? 18 : 0);
}

/// Times the cost of reading where memory wants few, long requests, as measured on an H200: chunks of 4, 6
/// and 8 KiB reach 83, 89 and 96 % of the copy roof, however many are under way; four teams, which wait for
/// each other, a tenth less than one, eight half; four warps a fifth less than eight, two a third.
double asking_cost(const UpdateTiling& t, double chunk_bytes) {
  return (1 + 0.045 * std::max(0.0, 8 - chunk_bytes / 1024)) * (1 + 0.02 * std::pow(t.teams - 1, 1.5)) *
         std::pow(8.0 / std::min(t.warps(), 8), 0.3);
}

/// Cycles of a multiprocessor for 16 rows, as far as they tell tilings apart; constants fitted to the times
/// of all tilings of 47 problems on an H100, those of few rows to 6 widths at 2^14 to 2^19 rows.
double cost_of(const UpdateProblem& problem, const UpdateTiling& t, const Sizes& s, bool few_requests) {
  const int parts = parts_of(problem.type), scalar = scalar_bytes(problem.type),
            warps = std::min(t.warps(), t.warpgroup || (scalar == 8 && t.column_warps >= 4) ? 12 : 8);
  const double x_bytes = static_cast<double>(problem.p) * static_cast<double>(size_of(problem.type));
  const double y_bytes = static_cast<double>(problem.q) * result_bytes(problem.type);
  const double row_bytes = x_bytes + (problem.accumulate ? 2 : 1) * y_bytes;

  // Memory: too little in flight leaves gaps, too much spreads what is read and written; tickets take turns;
  // the teams of a group wait for the slowest.
  const bool by_columns = s.x.mode == TallMode::by_columns;
  const double stages = static_cast<double>(t.slots) / t.groups;
  const double loading = x_bytes * s.rows * t.groups * (stages - 1);
  const double enough = 128 * 1024 * x_bytes / row_bytes * (by_columns ? (t.narrow ? 12.8 : 8.0) / warps : 1);
  const double turns = 10000.0 / s.rows, wait = 6.0 / stages;
  const double short_columns = by_columns ? 1 + 24.0 * (1 + t.teams) / (s.rows * scalar * parts) : 1;
  const double asking = few_requests && !by_columns ? asking_cost(t, x_bytes * s.rows) : 1;
  const double memory = short_columns * asking *
                        std::max(16 * row_bytes / 12.9 * std::max(1.0, enough / loading), turns) *
                        (1 + (by_columns ? 0 : 1.5e-7) * std::max(0.0, loading - 80 * 1024)) *
                        (1 + 0.0005 * (t.teams - 1) * wait * wait);

  // Arithmetic: instructions; fragments of S, which tiles share; what a warp widens or splits of X by itself.
  const index_t blocks_of_8 = (problem.q + 7) / 8, blocks_of_16 = (problem.p * parts + 15) / 16;
  const auto blocks = static_cast<double>(blocks_of_8), k_blocks = static_cast<double>(blocks_of_16);
  const double tensor = k_blocks * blocks * parts * (t.warpgroup ? 6 : t.split ? 9 : 16);
  const int scattered = s.x.vector == 1 ? 2 : s.x.vector * scalar < 8 ? 1 : 0;
  const double convert = (scalar == 8   ? 0
                          : t.split     ? 26
                          : scalar == 4 ? 40
                                        : 64) +
                         (by_columns ? 20 : 0) + (scalar == 8 ? 0 : 20 * scattered);
  const double shared =
      (t.warpgroup ? 0 : 16 * k_blocks * blocks / t.tiles) + (16 + convert) * k_blocks * t.column_warps;
  // A lane with rows of its own: products, S, and its rows, whose lanes meet in banks at multiples of 32
  // bytes.
  const double products = static_cast<double>(problem.p * problem.q) * parts;
  const double moves = 0.5 * (x_bytes / scalar + 3 * static_cast<double>(problem.q) * parts) *
                       (s.x.row_bytes(1) % 32 == 0 ? 4 : 1);
  const bool few = std::max(problem.p, problem.q) * parts <= 8;
  const double alone = few ? 0.3 * memory : 0.2 * products * parts + 0.5 * products / t.tiles + moves;
  const double sharing = scalar == 8 && parts == 2 ? 60.0 * (t.column_warps - 1) * t.tiles : 0;
  const double arithmetic =
      t.narrow ? alone
               : ((0.6 * tensor + shared + (scalar == 8 ? 0 : 40)) * std::pow(8.0 / warps, 0.7) + sharing) *
                     (1 + (sharing > 0 ? 0 : 0.25) * (t.column_warps - 1)) *
                     (1 + (stages < 4 ? 0.04 : 0.02) * (t.teams - 1));
  const double steady = std::pow(std::pow(memory, 4) + std::pow(arithmetic, 4), 0.25);

  // What few rows do not hide, in cycles: half of the arithmetic of what the slots hold at first, the rest of
  // what a multiprocessor may get later than it could be loaded, what the busiest one has more than others,
  // and each group's start.
  constexpr double multiprocessors = 132, most_loaded = 160 * 1024;
  const double share = static_cast<double>(problem.rows) / multiprocessors, held = t.slots * s.rows;
  const double busiest = std::ceil(share / s.rows) * s.rows;
  const double later = std::max(0.0, std::min(share * x_bytes, most_loaded) - held * x_bytes);
  const double start = arithmetic / 16 * (0.5 * std::min(share, held) + busiest - share) +
                       0.2 * later / 12.9 + 300.0 * t.groups;
  return steady + 16 * start / share;
}

}  // namespace

std::vector<UpdateTiling> update_tilings(const UpdateProblem& problem, const BlockLimits& limits) {
  const int parts = parts_of(problem.type), p = static_cast<int>(problem.p) * parts,
            q = static_cast<int>(problem.q) * parts;
  const int blocks = static_cast<int>((problem.q + 7) / 8);
  std::vector<UpdateTiling> all;
  const auto add = [&](UpdateTiling t) {
    const Sizes s = sizes_of(problem, t);
    if (registers_needed(problem, t, s.x) > register_cap(t.warps())) return;
    const auto bytes = [&] { return shared_bytes(s, t); };
    t.slots = 6 * t.groups;
    while (t.slots >= 2 * t.groups && bytes() > limits.shared_bytes) --t.slots;
    if (t.slots < 2 * t.groups) return;
    t.lag = t.slots < (t.warpgroup ? 4 : 3) * t.groups ? 0 : 1;
    t.cost = cost_of(problem, t, s, limits.few_requests);
    all.push_back(t);
  };
  // Few terms leave no rounding to hide in, unless X needs no splitting.
  const int scalar = scalar_bytes(problem.type), few = scalar == 8 ? 8 : 32;
  const bool may_split = scalar < 8 && p >= (scalar == 2 ? 5 : 24);
  if (may_split && scalar == 4 && limits.warpgroups && q <= 128) {
    for (const int groups : {3, 4, 2}) add({false, true, true, 1, 1, 4, groups, 0, 1, 0});
    if (all.empty()) add({false, true, true, 1, 1, 4, 1, 0, 1, 0});
  }
  for (const bool narrow : {false, true})
    for (const bool split : {false, true})
      for (int tiles : {1, 2, 4, 8, 16})
        for (int column_warps : {1, 2, 4, 8})
          for (int teams : {1, 2, 4, 8})
            for (int warps : {8, 16, 12, 4}) {
              if (warps % (column_warps * teams) != 0) continue;
              if (narrow && (p > few || q > few || p * q > 640 || column_warps > 1 || split)) continue;
              if (!narrow && ((p <= 4 && q <= 4) || column_warps > blocks)) continue;
              if (split && !may_split) continue;
              add({narrow, split, false, tiles, column_warps, teams, warps / (column_warps * teams), 0, 1,
                   0});
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
                    s.rows / t.teams * static_cast<int>(problem.q) * result_bytes(problem.type) % 16 == 0;
  const index_t chunks = (problem.rows + s.rows - 1) / s.rows;
  UpdatePlan plan{{}, t};
  KernelPlan& k = plan.kernel;
  k.family = "tsmm";
  k.defines = {define(problem.type),
               define("TS_CORE", t.split),
               define("TS_NARROW", t.narrow),
               define("TS_WARPGROUP", t.warpgroup),
               define("TS_P", problem.p),
               define("TS_Q", problem.q),
               define("TS_MODE_X", static_cast<int>(s.x.mode)),
               define("TS_PITCH_X", s.x.pitch),
               define("TS_UNIT_X", s.x.unit),
               define("TS_SHIFT_X", s.x.shift),
               define("TS_VECTOR_X", s.x.vector),
               define("TS_PAD_X", s.pad),
               define("TS_BULK_Y", bulk),
               define("TS_COLUMNS_Y", s.columns_y),
               define("TS_UNIT_Y", s.unit_y),
               define("TS_ACCUMULATE", problem.accumulate),
               define("TS_ROWS", s.rows),
               define("TS_SLOTS", t.slots),
               define("TS_LAG", t.lag),
               define("TS_GROUPS", t.groups),
               define("TS_TEAMS", t.teams),
               define("TS_COLUMN_WARPS", t.column_warps),
               define("TS_TILES", t.tiles)};
  k.grid = static_cast<unsigned>(std::clamp<index_t>(chunks, 1, limits.multiprocessors));
  k.block = static_cast<unsigned>(32 * t.warps());
  // Blocks of two kernels that overlap would gather on some multiprocessors if both had room there.
  k.shared_bytes = static_cast<std::size_t>(std::max(shared_bytes(s, t), limits.shared_bytes / 2 + 1024));
  k.overlaps = true;
  k.budget.registers = register_cap(t.warps());
  return plan;
}

}  // namespace ts::cuda
