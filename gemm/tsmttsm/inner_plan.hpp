// How a product C = op(A) B of tall operands runs on a GPU: the constants of tsmttsm/kernels/tsmttsm.cuh and
// its launch, from shapes, strides, alignments and the device. Pure functions.
#pragma once

#include <vector>

#include "tallskinny/gemm/device/tall_operand.hpp"

namespace ts::cuda {

struct InnerProblem {
  DType type = DType::float64;
  index_t rows = 0, p = 1, q = 1;
  bool gram = false;   ///< B is A
  index_t panels = 1;  ///< of p columns that A has
  TallOperand a, b;
  bool every_core = false;  ///< tilings that start slowly, too, whether or not arithmetic binds
  index_t parts = 0;        ///< of `rows` rows each, whose sums are left apart; 0: all rows are one sum
  friend bool operator==(const InnerProblem&, const InnerProblem&) = default;
};

/// How much of long operands is asked for at once.
struct RequestLimit {
  bool quick = false;  ///< a chunk is multiplied so soon that it counts as well
  int kib = 0;         ///< of a ring of three chunks; 0: as InnerTiling::most_stages says
};

/// A candidate: how the warps of a block share the product, and by which arithmetic.
struct InnerTiling {
  int tiles_l = 1, tiles_r = 1;  ///< of a warp: 16 x 8 each
  int warps_l = 1, warps_r = 1;  ///< that cover the product
  int tiles = 1;                 ///< of those, needed (a Gram matrix leaves out the lower ones)
  int slices = 8;                ///< groups of warps that take different rows
  int producers = 1;             ///< warps that load; 0: the first warp loads as well
  bool split = false;            ///< float32 by three TF32 products instead of float64
  bool three = false;            ///< real products for a complex one, instead of four; tiles are of complex columns
  bool pairs = false;            ///< of columns of blocks of a Gram matrix make the work of a warp (TS_PAIRS)
  bool give = false;             ///< the warps that load, four, give registers to the others
  /// Those by instructions of warpgroups: warps_l of 64 rows each, tiles_r blocks of 8 columns.
  bool warpgroups = false;
  int chunk_kib = 0;   ///< of operands that are copied at once; 0: by their form
  int ring_kib = 160;  ///< of shared memory that chunks under way may take
  int most_stages = 8;
  RequestLimit requests = {};
  int residents = 1;  ///< blocks that share a multiprocessor
  double cost = 0;    ///< of the model: lower is better
  double busy = 0;    ///< time of the arithmetic, of memory's
  /// So few rows that the time beside reading them counts: clusters of blocks add their sums (TS_CLUSTER).
  bool brief = false;
  [[nodiscard]] int warps() const noexcept { return warpgroups ? 4 * warps_l * slices : tiles * slices; }
  /// Real products of 16 x 8 that a warp sums.
  [[nodiscard]] int products() const noexcept { return (three ? 3 : 1) * (pairs ? tiles_l + 1 : tiles_l * tiles_r); }
};

struct InnerPlan {
  KernelPlan kernel;
  int panel_blocks = 1;  ///< that share the rows of a panel
  int group_size = 1;    ///< of those, whose partial results are added first
  InnerTiling tiling;
};

/// Scalars (twice the width for complex types) of a row of B that one launch can take; a wider B is cut by
/// the caller. Tiles of that square are also what one panel of A can have.
inline constexpr index_t inner_scalars_max = 128;
/// The same however the operands lie, for every type on every device.
inline constexpr index_t inner_scalars_any = 64;

/// The columns of a panel of A: as many as a kernel can take, or fewer, so that the panels keep the whole
/// device busy. Those of a row-major A begin where whole units can be copied.
[[nodiscard]] index_t inner_panel_width(DType type, Layout layout, index_t columns_of_a, index_t columns_of_b,
                                        const BlockLimits&) noexcept;

/// Every tiling whose sums fit into registers, best first.
[[nodiscard]] std::vector<InnerTiling> inner_tilings(const InnerProblem&, const BlockLimits&);

[[nodiscard]] InnerPlan plan_inner(const InnerProblem&, const BlockLimits&, const InnerTiling&);
[[nodiscard]] InnerPlan plan_inner(const InnerProblem&, const BlockLimits&);

}  // namespace ts::cuda
