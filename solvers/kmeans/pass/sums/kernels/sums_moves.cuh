// Addition of rows to sums: limbs of addends, lists of moves, and entries of clusters.
#pragma once
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"
#include "tallskinny/solvers/kmeans/pass/sums/arguments.hpp"

using Moves = ts::cuda::MovesArgument;
using Sums = ts::cuda::SumsArgument;

/// An entry of a cluster is a row that enters it, or with this mark one that leaves it.
constexpr uint32 leaves = 1u << 31;

struct Limbs {
  uint64 upper, lower;
};
__device__ __forceinline__ Limbs split(double in_units, double one) {
  constexpr double magic = 0x1.8p52;
  const double p = __dmul_rn(in_units, one);
  const double rounded = __dadd_rn(p, magic);
  const double rest = __dmul_rn(__dsub_rn(p, __dsub_rn(rounded, magic)), one);
  const int64 zero = __double_as_longlong(magic);
  return {static_cast<uint64>(__double_as_longlong(rounded) - zero),
          static_cast<uint64>(__double_as_longlong(__dadd_rn(rest, magic)) - zero)};
}

/// Called by a whole warp: lists the rows of the lanes with a bit in `moving`, of which there must be one.
__device__ __forceinline__ void list_moves(const Moves& moves, int64 row, int before, uint32 moving) {
  const int lane = threadIdx.x % 32;
  int base = 0;
  if (lane == 0) base = static_cast<int>(atomicAdd(moves.count, static_cast<uint64>(__popc(moving))));
  base = __shfl_sync(~0u, base, 0);
  if ((moving >> lane & 1) == 0) return;
  moves.rows[base + __popc(moving & ((1u << lane) - 1))] = static_cast<int>(row);
  moves.before[row] = before;
}
