#include "tallskinny/gemm/tsmttsm/cuda/inner_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ts::cuda {
namespace {

enum Mode { flat = 0, lines = 1, elements = 2, columns = 3 };  // as in kernels/operand.cuh

constexpr int up(int x, int unit) { return (x + unit - 1) / unit * unit; }

int parts_of(DType t) { return t == DType::complex128 || t == DType::complex64 ? 2 : 1; }
int scalar_bytes(DType t) { return static_cast<int>(size_of(t)) / parts_of(t); }
bool sixteen_bit(DType t) { return t == DType::float16 || t == DType::bfloat16; }

/// One side of the product while it is being planned; sizes in scalars and bytes of scalars.
struct Side {
  int scalar = 8, parts = 1;
  int width = 1;  ///< scalars of a row
  Mode mode = flat;
  int pitch = 1;   ///< scalars between rows in shared memory
  bool shift = false;
  unsigned address = 0;
  int vector = 1;

  int folded(int fold) const { return (fold - 1) * pitch + width; }
  int row_bytes(int fold) const { return fold * pitch * scalar; }
};

Side side_of(DType type, index_t columns_of_it, const TallOperand& operand) {
  Side s;
  s.scalar = scalar_bytes(type), s.parts = parts_of(type);
  s.width = static_cast<int>(columns_of_it) * s.parts;
  s.address = operand.address;
  const int bytes = s.width * s.scalar, element = s.scalar * s.parts;
  const bool vector = columns_of_it == 1 && operand.row_stride == 1;
  if (operand.column_stride == 1 || vector) {
    const index_t ld = vector ? 1 : operand.row_stride, gap = (ld - columns_of_it) * element;
    if (gap < 32 || gap <= bytes / 8) {
      s.mode = flat, s.pitch = static_cast<int>(ld) * s.parts, s.shift = operand.address % 128 != 0;
    } else if (operand.address % 16 == 0 && bytes % 16 == 0 && ld * element % 16 == 0 && bytes >= 64) {
      s.mode = lines, s.pitch = s.width;
    } else {
      s.mode = elements, s.pitch = s.width;
    }
  } else if (operand.row_stride == 1 && operand.address % 16 == 0 && operand.column_stride * element % 16 == 0) {
    s.mode = columns, s.pitch = s.width;
  } else {
    s.mode = elements, s.pitch = s.width | 1;  // odd: scattered stores meet in no bank
  }
  return s;
}

/// Columns that a lane may load at once.
int widest_vector(const Side& s, int fold, int blocks, int widest) {
  if (s.mode == columns) return s.parts;
  const unsigned base = s.mode == flat ? s.address : 0;
  for (int v = std::min(widest, 16 / s.scalar); v > 1; v /= 2) {
    const int bytes = v * s.scalar;
    if (s.row_bytes(fold) % bytes == 0 && base % static_cast<unsigned>(bytes) == 0 && blocks % v == 0) return v;
  }
  return 1;
}

/// How the warps of a block share the product.
struct Tiling {
  int tiles_l = 1, tiles_r = 1, warps_l = 1, warps_r = 1, tiles = 1, slices = 8;
  int producers = 1;
  int warps() const { return tiles * slices; }
};

int tiles_needed(bool gram, const Tiling& t) {
  int count = 0;
  for (int l = 0; l < t.warps_l; ++l)
    for (int r = 0; r < t.warps_r; ++r) count += !gram || (r + 1) * 8 * t.tiles_r > l * 16 * t.tiles_l;
  return count;
}

/// Registers that a thread of a block of so many warps may have: four schedulers share 64 Ki.
int register_cap(int warps) { return std::min(255, 16384 / 32 / ((warps + 3) / 4) / 8 * 8); }

/// What a thread will need: sums, the fragments of one step, addresses.
int registers_needed(bool narrow_sums, int tl, int tr) {
  return narrow_sums ? 4 * tl * tr + 2 * tr + 48 + (tl * tr > 4 ? 24 : 0) : 8 * tl * tr + 8 * tr + 16 + 32;
}

/// The cheapest of the tilings whose sums fit into registers: tensor instructions first, then loads.
Tiling best_tiling(bool gram, bool narrow_sums, int left, int right, int producers,
                   int bytes) {
  const int need_l = (left + 15) / 16, need_r = (right + 7) / 8;
  Tiling best;
  double best_cost = 1e30;
  for (int tl = 1; tl <= 4; ++tl)
    for (int tr = 1; tr <= 8; ++tr) {
      if (tl > need_l || (tr > need_r && !gram) || (gram && tr != 2 * tl)) continue;
      Tiling t{tl, tr, (need_l + tl - 1) / tl, (need_r + tr - 1) / tr, 1, 1, producers};
      t.tiles = tiles_needed(gram, t);
      for (int slices : {8, 4, 3, 2, 1}) {
        t.slices = slices;
        const int warps = t.tiles * slices;
        if (warps > 15 || (slices > 1 && (warps > 12 || 16 * slices * bytes > 66 * 1024))) continue;
        if (narrow_sums && tl * tr > 9) continue;
        t.producers = producers > 1 || registers_needed(narrow_sums, tl, tr) <= register_cap(warps + 1) ? producers : 0;
        if (registers_needed(narrow_sums, tl, tr) > register_cap(warps + t.producers)) continue;
        const double instructions = t.tiles * tl * tr, loads = t.tiles * (2 * tl + tr);
        const double busy = warps / (4.0 * ((warps + 3) / 4));  // of the four schedulers
        const double cost = (instructions + 0.3 * loads) / busy * (warps < 8 ? 1.3 : warps > 8 ? 1.03 : 1);
        if (cost < best_cost - 1e-9) best_cost = cost, best = t;
      }
    }
  return best;
}

int sub_bytes_pitch(const Side& s, int fold, int sub_rows, bool natural) {
  const int bytes = sub_rows * s.row_bytes(fold);
  return natural ? bytes : up(bytes + (s.shift ? 144 : 0), 128) + 32;
}
int stage_bytes(const Side& s, int fold, int sub_rows, bool natural) {
  if (s.mode == columns) {
    const int pitch = up(4 * sub_rows * s.parts * s.scalar, 128) + (s.scalar == 8 ? 16 : s.scalar == 4 ? 64 : 32);
    return up(s.width / s.parts * pitch, 128);
  }
  return up(4 * sub_bytes_pitch(s, fold, sub_rows, natural) + (natural && s.shift ? 144 : 0), 128);
}

}  // namespace

InnerPlan plan_inner(const InnerProblem& problem, const InnerDevice& device) {
  const bool gram = problem.gram, narrow_sums = sixteen_bit(problem.type);
  Side a = side_of(problem.type, problem.p, problem.a);
  Side b = gram ? a : side_of(problem.type, problem.q, problem.b);
  const bool natural = a.mode == columns || b.mode == columns;

  int fold = 1;
  if (!natural)
    while (a.folded(fold + 1) <= 16 && b.folded(fold + 1) <= 16) ++fold;

  // The side of 16 takes the factor that wastes less of it.
  const auto padded = [&](const Side& l, const Side& r) { return up(l.folded(fold), 16) * up(r.folded(fold), 8); };
  const bool swap = !gram && padded(b, a) < padded(a, b);
  Side& left = swap ? b : a;
  Side& right = gram ? a : swap ? a : b;
  const bool by_elements = a.mode == elements || b.mode == elements;
  Tiling tiling =
      best_tiling(gram, narrow_sums, left.folded(fold), right.folded(fold), by_elements ? 4 : 1,
                  a.row_bytes(fold) + (gram ? 0 : b.row_bytes(fold)));
  if (left.mode == columns && left.parts == 1) left.vector = 1;
  left.vector = widest_vector(left, fold, 2 * tiling.tiles_l, narrow_sums ? 8 : 2);
  right.vector = gram ? left.vector : widest_vector(right, fold, tiling.tiles_r, 8);
  if (left.mode == columns) left.vector = left.parts;
  if (right.parts == 2 && right.mode == columns && tiling.tiles_r % 2 != 0) ++tiling.tiles_r;

  // Rows of a sub-block: whole steps for every slice, and whole 128-byte lines.
  const int flush_bytes = narrow_sums ? tiling.warps() * tiling.tiles_l * tiling.tiles_r * 4 * 32 * 8 : 0;
  const int room = device.shared_bytes - 1024 - flush_bytes;
  int unit = 4 * tiling.slices;
  const auto whole_lines = [&](const Side& s) {
    if (s.mode == flat) unit = std::lcm(unit, 128 / std::gcd(128, s.row_bytes(fold)));
    if (s.mode == columns) unit = std::lcm(unit, 128 / std::gcd(128, 4 * s.parts * s.scalar));
  };
  whole_lines(a);
  if (!gram) whole_lines(b);
  const auto both = [&](int sub_rows) {
    return stage_bytes(a, fold, sub_rows, natural) + (gram ? 0 : stage_bytes(b, fold, sub_rows, natural));
  };
  while (2 * both(unit) > room && unit % 8 == 0 && unit / 2 % (4 * tiling.slices) == 0) unit /= 2;
  while (2 * both(unit) > room && tiling.slices > 1) tiling.slices /= 2, unit = 4 * tiling.slices;
  int sub_rows = unit;
  while (both(sub_rows + unit) <= 32 * 1024) sub_rows += unit;
  const int stages = std::clamp(std::min(room, std::max(160 * 1024, 3 * both(sub_rows))) / both(sub_rows), 2, 8);

  const index_t folded_rows = (problem.rows + fold - 1) / fold, chunk = 4 * sub_rows;
  const index_t chunks = (folded_rows + chunk - 1) / chunk;
  const int grid = static_cast<int>(std::clamp<index_t>(chunks, 1, device.multiprocessors));
  const int products = tiling.warps_l * tiling.tiles_l * 16 * tiling.warps_r * tiling.tiles_r * 8 * 8;

  InnerPlan plan;
  plan.group_size = static_cast<int>(std::ceil(std::sqrt(grid)));
  const int groups = (grid + plan.group_size - 1) / plan.group_size;
  KernelPlan& k = plan.kernel;
  k.family = "tsmttsm";
  k.defines = {define(problem.type),
               define("TS_P", problem.p),
               define("TS_Q", gram ? problem.p : problem.q),
               define("TS_GRAM", gram),
               define("TS_SWAP", swap),
               define("TS_FOLD", fold),
               define("TS_NATURAL", natural),
               define("TS_MODE_A", a.mode),
               define("TS_PITCH_A", a.pitch),
               define("TS_VECTOR_A", a.vector),
               define("TS_SHIFT_A", a.shift),
               define("TS_MODE_B", b.mode),
               define("TS_PITCH_B", b.pitch),
               define("TS_VECTOR_B", b.vector),
               define("TS_SHIFT_B", b.shift),
               define("TS_SUB_ROWS", sub_rows),
               define("TS_STAGES", stages),
               define("TS_PRODUCERS", tiling.producers),
               define("TS_TILES_L", tiling.tiles_l),
               define("TS_TILES_R", tiling.tiles_r),
               define("TS_WARPS_L", tiling.warps_l),
               define("TS_WARPS_R", tiling.warps_r),
               define("TS_SLICES", tiling.slices),
               define("TS_FLUSH", 16)};
  k.grid = static_cast<unsigned>(grid);
  k.block = static_cast<unsigned>(32 * (tiling.warps() + tiling.producers));
  k.shared_bytes = static_cast<std::size_t>(128 + flush_bytes + std::max(stages * both(sub_rows), products) + 64);
  k.workspace_bytes = static_cast<std::size_t>(grid + groups) * static_cast<std::size_t>(problem.p * problem.q) *
                      static_cast<std::size_t>(a.parts) * sizeof(double);
  k.budget.registers = register_cap(tiling.warps() + tiling.producers);
  k.budget.shared_bytes = 1024;
  return plan;
}

}  // namespace ts::cuda
