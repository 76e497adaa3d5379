// What the kernels of assign share: rows as float64 numbers, distances by direct differences, and the limbs of sums. All of it gives
// the bits of the host's code (gemm/assign/), so nothing is contracted here.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

struct Rows {
  const void* data;
  int64 count, row_stride, column_stride;  // in elements
  const double* scale;                     // of each row, or null
};

__device__ __forceinline__ const Element* row_of(const Rows& x, int64 i) {
  return static_cast<const Element*>(x.data) + i * x.row_stride;
}
/// x_ij in float64.
__device__ __forceinline__ double value(const Rows& x, int64 i, int j) {
  const double wide = widen(row_of(x, i)[j * x.column_stride]);
  return x.scale == nullptr ? wide : __dmul_rn(wide, x.scale[i]);
}

/// sum + ((x - c) factor)^2
__device__ __forceinline__ double add_square(double sum, double x, double c, double factor) {
  const double difference = __dmul_rn(__dsub_rn(x, c), factor);
  return __dadd_rn(sum, __dmul_rn(difference, difference));
}
/// sum_j ((x_j - c_j) factor)^2 in eight partial sums; x(j) and c(j) give the numbers.
template <class X, class C>
__device__ __forceinline__ double squared_distance(int d, double factor, const X& x, const C& c) {
  double part[8] = {};
  int j = 0;
#pragma unroll 2
  for (; j + 8 <= d; j += 8)
#pragma unroll
    for (int q = 0; q < 8; ++q) part[q] = add_square(part[q], x(j + q), c(j + q), factor);
#pragma unroll
  for (int q = 0; q < 8; ++q)
    if (j + q < d) part[q] = add_square(part[q], x(j + q), c(j + q), factor);
  return __dadd_rn(__dadd_rn(__dadd_rn(part[0], part[1]), __dadd_rn(part[2], part[3])),
                   __dadd_rn(__dadd_rn(part[4], part[5]), __dadd_rn(part[6], part[7])));
}

/// The rows that leave one sum for another once all labels are known (sums_sort.cuh), in any order.
struct Moves {
  int *rows,
      *before;  // the row of each move; by rows, the label that it had, negative for none. Null: every row, from nowhere
  uint64* count;
};

/// Sums by cluster in fixed point (gemm/assign/sums/cluster_sums.hpp), of what this pass changes.
struct Sums {
  uint64 *upper, *lower;  // k x d; null: no sums
  uint64 *weight_upper, *weight_lower, *counts;
  const double *to_units, *shift;  // of each column
  const double* weights;           // of each row, or null
  double one, weight_to_units;
  Moves moves;
};

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

/// Which rows a kernel looks at: all of them, or those of a list whose length another kernel left.
struct Selection {
  const int64* list;  // null: all
  const uint64* listed;

  __device__ __forceinline__ int64 count(const Rows& x) const {
    return list == nullptr ? x.count : static_cast<int64>(*listed);
  }
  __device__ __forceinline__ int64 row(int64 position) const {
    return list == nullptr ? position : list[position];
  }
};

/// The bits of a word of marks, one for each position, that stand for positions below `count`.
__device__ __forceinline__ uint32 marks_below(int64 count, int64 word) {
  const int64 left = count - 32 * word;
  return left >= 32 ? ~0u : left <= 0 ? 0u : (1u << left) - 1;
}

/// The only two centroids that can be the nearest of a row; negative if there may be more.
struct __align__(8) Pair {
  int first, second;
};
/// Where a kernel with scores leaves pairs of rows that it does not decide.
struct Pairs {
  Pair* of_row;
  uint32* marks;  // of rows with a pair that no other kernel need score again
};

/// What a pass counts.
struct Stats {
  uint64 changed, rescored;
};
