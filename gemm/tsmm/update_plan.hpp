// How Y = alpha X op(S) + beta Y of tall X and Y runs on a GPU: the constants of tsmm/kernels/tsmm.cuh and
// its launch, from shapes, strides, alignments and the device. Pure functions.
#pragma once

#include <vector>

#include "tallskinny/gemm/device/tall_operand.hpp"

namespace ts::cuda {

struct UpdateProblem {
  DType type = DType::float64;
  index_t rows = 0, p = 1, q = 1;
  bool accumulate = false;  ///< beta is not 0
  TallOperand x, y;
  friend bool operator==(const UpdateProblem&, const UpdateProblem&) = default;
};

/// A candidate: how a block is cut into groups of warps with rings of their own, and a group's chunk into the
/// rows and columns of its warps.
struct UpdateTiling {
  bool narrow = false;     ///< a lane has a row; else tensor instructions
  bool split = false;      ///< 3xTF32 instead of float64
  bool warpgroup = false;  ///< the instructions of four warps together, which are the teams of a group
  int tiles = 1;           ///< of 16 rows that a warp computes at once (narrow: of 32)
  int column_warps = 1;    ///< that share the rows of a team
  int teams = 1;           ///< that share a chunk
  int groups = 8;
  int slots = 32;   ///< of all groups
  int lag = 1;      ///< 1: a slot is filled again one chunk later than it could be, so that its store is over
  double cost = 0;  ///< of the model: lower is better

  [[nodiscard]] int warps() const { return column_warps * teams * groups; }
};

struct UpdatePlan {
  KernelPlan kernel;
  UpdateTiling tiling;
};

/// Columns of X and of Y that one launch can take however they lie; wider operands are cut by the caller.
[[nodiscard]] index_t update_widest(DType, const BlockLimits&);

/// Every tiling that fits into registers and shared memory, best first.
[[nodiscard]] std::vector<UpdateTiling> update_tilings(const UpdateProblem&, const BlockLimits&);

[[nodiscard]] UpdatePlan plan_update(const UpdateProblem&, const BlockLimits&, const UpdateTiling&);
[[nodiscard]] UpdatePlan plan_update(const UpdateProblem&, const BlockLimits&);

}  // namespace ts::cuda
