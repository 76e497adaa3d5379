#include "tallskinny/gemm/tsmttsm/inner_shape.hpp"

#include <algorithm>

namespace ts::cuda {

InnerShape inner_shape_of(const InnerProblem& problem) {
  InnerShape s;
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

bool swap_for_warpgroups(const InnerShape& s, bool gram) noexcept {
  const auto padded = [&](const TallLayout& l, const TallLayout& r) {
    return round_up(l.folded(s.fold), 64) * round_up(r.folded(s.fold), 8) + (r.folded(s.fold) > 128 ? 1 << 20 : 0);
  };
  return !gram && padded(s.b, s.a) < padded(s.a, s.b);
}

int widest_vector(const TallLayout& s, int fold, int blocks, int widest) noexcept {
  if (s.mode == TallMode::by_columns) return s.parts;
  const unsigned base = s.mode == TallMode::flat ? s.address : 0;
  for (int v = std::min(widest, 16 / s.scalar); v > 1; v /= 2) {
    const int bytes = v * s.scalar;
    if (s.row_bytes(fold) % bytes == 0 && base % static_cast<unsigned>(bytes) == 0 && blocks % v == 0) return v;
  }
  return 1;
}

int stage_bytes(const TallLayout& s, const InnerShape& shape, int rows) noexcept {
  if (s.mode == TallMode::by_columns) {
    const int pitch = round_up(rows * s.parts * s.scalar, 128) + (s.scalar == 8 ? 16 : s.scalar == 4 ? 64 : 32);
    return round_up(s.width / s.parts * pitch, 128);
  }
  const int subs = shape.natural ? 1 : 4, bytes = rows / subs * s.row_bytes(shape.fold);
  return round_up(subs * (round_up(bytes + (s.shift ? 144 : 0), 128) + (shape.natural ? 0 : 32)), 128);
}

bool sums_in_float(DType type, bool split) noexcept { return scalar_bytes(type) == 2 || split; }

namespace {

/// Whether blocks send their sums as they lie in fragments (tsmttsm/kernels/tsmttsm.cuh).
bool sends_fragments(const InnerProblem& problem, const InnerShape& shape, const InnerTiling& t) {
  return !problem.gram && parts_of(problem.type) == 1 && shape.fold == 1 && !t.split;
}

}  // namespace

index_t numbers_of(const InnerProblem& problem, const InnerShape& shape, const InnerTiling& t) noexcept {
  if (sends_fragments(problem, shape, t)) return t.tiles * t.tiles_l * t.tiles_r * 128;
  return problem.p * (problem.gram ? problem.p : problem.q) * parts_of(problem.type);
}

}  // namespace ts::cuda
