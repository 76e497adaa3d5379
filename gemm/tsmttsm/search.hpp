// How a product C = op(A) B of tall operands can run on a GPU, from shapes, strides, alignments and the device: the
// search space and the cost of its members, and the policy of one of them. Pure functions.
#pragma once

#include <vector>

#include "tallskinny/gemm/device/tall_operand.hpp"
#include "tallskinny/gemm/tsmttsm/cost_model.hpp"
#include "tallskinny/gemm/tsmttsm/policy.hpp"

namespace ts::inline v0::cuda {

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

/// How the operands lie, and which of them is on which side of the tensor instructions.
struct InnerShape {
  TallLayout a, b;
  bool natural = false;  ///< an operand is column-major
  int fold = 1;
  bool swap = false;  ///< the left factor of the tensor instruction is B
  [[nodiscard]] const TallLayout& left() const noexcept { return swap ? b : a; }
  [[nodiscard]] const TallLayout& right() const noexcept { return swap ? a : b; }
  /// Bytes of a row of all operands.
  [[nodiscard]] int row_bytes(bool gram) const noexcept { return a.row_bytes(fold) + (gram ? 0 : b.row_bytes(fold)); }
  /// Whether both are copied in bulk as they lie.
  [[nodiscard]] bool in_bulk(const BlockLimits& limits) const noexcept {
    return limits.bulk_copies && a.mode == TallMode::flat && b.mode == TallMode::flat;
  }
};
[[nodiscard]] InnerShape inner_shape_of(const InnerProblem&);

/// For instructions of 64 rows: the side of 64 takes the factor that wastes less of it.
[[nodiscard]] bool swap_for_warpgroups(const InnerShape&, bool gram) noexcept;

/// Columns that a lane may load at once, out of `blocks` blocks of 8 columns.
[[nodiscard]] int widest_vector(const TallLayout&, int fold, int blocks, int widest) noexcept;

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
  bool three = false;            ///< InnerPolicy::three, pairs, give
  bool pairs = false;
  bool give = false;
  /// Those by instructions of warpgroups: warps_l of 64 rows each, tiles_r blocks of 8 columns.
  bool warpgroups = false;
  int chunk_kib = 0;   ///< of operands that are copied at once; 0: by their form
  int ring_kib = 160;  ///< of shared memory that chunks under way may take
  int most_stages = 8;
  RequestLimit requests = {};
  int residents = 1;  ///< blocks that share a multiprocessor
  double cost = 0;    ///< of the model: lower is better
  int turn = 0;       ///< place in the search space: of equal costs the first counts as the lower one
  double busy = 0;    ///< time of the arithmetic, of memory's
  /// So few rows that the time beside reading them counts: clusters of blocks add their sums.
  bool brief = false;
  [[nodiscard]] int warps() const noexcept { return warpgroups ? 4 * warps_l * slices : tiles * slices; }
};

/// Blocks of a cluster, and how many clusters run at once: those of 8 fit on 120 of the 132
/// multiprocessors of an H100, whose parts have 16 or 18.
inline constexpr int cluster_blocks = 8;
[[nodiscard]] inline int clusters_of(const BlockLimits& limits) noexcept {
  return limits.multiprocessors * 10 / 11 / cluster_blocks;
}

/// The model for a device: an H100's, with instructions as fast as this one's.
[[nodiscard]] constexpr InnerCostModel inner_cost_model(const BlockLimits& limits) noexcept {
  InnerCostModel m = limits.few_requests ? inner_cost_of_few_requests : inner_cost;
  m.float64_tensor *= limits.float64, m.split_tensor *= limits.split, m.half_tensor *= limits.half;
  return m;
}

/// Every tiling whose sums fit into registers, best first.
[[nodiscard]] std::vector<InnerTiling> inner_tilings(const InnerProblem&, const BlockLimits&);

/// The policy of a tiling, as far as it does not depend on chunks and the ring.
[[nodiscard]] InnerPolicy inner_policy(const InnerProblem&, const InnerShape&, const InnerTiling&);
/// The kernel of a tiling: with chunks and a ring as they fit.
[[nodiscard]] KernelPlan plan_inner(const InnerProblem&, const BlockLimits&, const InnerTiling&);

}  // namespace ts::inline v0::cuda
