// What planning an inner product knows before a tiling is chosen: how its operands lie, and which of them is
// on which side of the tensor instructions.
#pragma once

#include "tallskinny/gemm/tsmttsm/inner_plan.hpp"

namespace ts::cuda {

struct InnerShape {
  TallLayout a, b;
  bool natural = false;  ///< an operand is column-major
  int fold = 1;
  bool swap = false;  ///< the left factor of the tensor instruction is B
  [[nodiscard]] const TallLayout& left() const noexcept { return swap ? b : a; }
  [[nodiscard]] const TallLayout& right() const noexcept { return swap ? a : b; }
};
[[nodiscard]] InnerShape inner_shape_of(const InnerProblem&);

/// For instructions of 64 rows: the side of 64 takes the factor that wastes less of it.
[[nodiscard]] bool swap_for_warpgroups(const InnerShape&, bool gram) noexcept;

/// Columns that a lane may load at once, out of `blocks` blocks of 8 columns.
[[nodiscard]] int widest_vector(const TallLayout&, int fold, int blocks, int widest) noexcept;

/// Bytes of a stage for `rows` folded rows of one operand.
[[nodiscard]] int stage_bytes(const TallLayout&, const InnerShape&, int rows) noexcept;

/// Whether sums begin in float32.
[[nodiscard]] bool sums_in_float(DType type, bool split) noexcept;

/// Numbers that a block sends to others: its sums as they lie in fragments, or what is put together of them
/// (tsmttsm/kernels/tsmttsm.cuh).
[[nodiscard]] index_t numbers_of(const InnerProblem&, const InnerShape&, const InnerTiling&) noexcept;

/// Blocks of a cluster, and how many clusters run at once: those of 8 find room on 120 of the 132
/// multiprocessors of an H100, whose parts have 16 or 18.
inline constexpr int cluster_blocks = 8;
[[nodiscard]] inline int clusters_of(const BlockLimits& limits) noexcept {
  return limits.multiprocessors * 10 / 11 / cluster_blocks;
}

}  // namespace ts::cuda
