// The steps of tsmttsm.cuh for a Gram matrix of complex numbers by three products, shared out so that no warp
// has more to do than another: each has the blocks on and above the diagonal of two columns of blocks, the
// first and the last, the second and the last but one, ... A block is 16 x 8 complex columns, tiles_left
// of them stand above one another.
#pragma once

#include "tallskinny/gemm/tsmttsm/kernels/tsmttsm_tiles.cuh"

constexpr int column_blocks = (policy.p + 7) / 8;

/// Fragments are F.
template <class F>
struct PairSharing {
  /// Where a lane finds its columns of the slice's first step in a stage: those on the left, and those of its pair
  /// beside the first of them.
  struct Columns {
    int left[left_vectors], pair;
    /// Whether the pair's last block, or its first, has a product with block i of 16 columns on the left.
    __device__ __forceinline__ bool includes(int i, int index) const {
      if (index == 0) return pair < column_blocks - 2 * i;
      return 2 * i <= pair && 2 * pair < column_blocks - 1;
    }
  };

  /// Where a block of 8 columns begins: the last one ends with A.
  static __device__ __forceinline__ int first_column(int block) {
    return 8 * block + 8 <= policy.p ? 8 * block : policy.p - 8;
  }
  /// Which product of a warp is that of block i of 16 columns on the left and the pair's last block, or its first.
  static __device__ __forceinline__ constexpr int product_of(int i, int index) {
    return index == 0 ? i : tiles_left - i;
  }

  static __device__ __forceinline__ Columns find_columns(const Left& side, const Right&, int first_step, int, int pair,
                                                         int lane) {
    Columns columns;
    columns.pair = pair;
#pragma unroll
    for (int i = 0; i < left_vectors; ++i)
      columns.left[i] = first_step * Left::step_bytes + side.offset(lane % 4, 2 * (first_column(i) + lane / 4));
    return columns;
  }

  /// One step: 16 rows of a warp's pair. `sign` is that of the imaginary part on the left.
  static __device__ __forceinline__ void step(Sums& sums, const unsigned char* left, const unsigned char* right,
                                              const Columns& columns, double sign) {
    F r[2][2];
    int pair = columns.pair;
    asm volatile("" : "+r"(pair));  // places are worked out anew: there are few registers
#pragma unroll
    for (int index = 0; index < 2; ++index) {
      const int column = first_column(index == 0 ? column_blocks - 1 - pair : pair);
      load<Right>(right + columns.left[0] + 2 * column * Right::scalar_size, r[index]);
    }
#pragma unroll
    for (int i = 0; i < tiles_left; ++i) {
      F lower[2], upper[2];
      load<Left>(left + columns.left[2 * i], lower);
      load<Left>(left + columns.left[2 * i + 1], upper);
#pragma unroll
      for (int index = 0; index < 2; ++index) {
        // (The first block of a pair has half as many products as the last or fewer.)
        if (index == 1 && i > (column_blocks / 2 - 1) / 2) continue;
        if (!columns.includes(i, index)) continue;
        const int product = product_of(i, index);
#pragma unroll
        for (int part = 0; part < 2; ++part)
          multiply_add(sums.c[part][product], lower[part], upper[part], r[index][part]);
        // (The right sum is made again for each: there are few registers.)
        multiply_add(sums.c[2][product], sum_of(lower[0], lower[1], sign), sum_of(upper[0], upper[1], sign),
                     sum_of(r[index][0], r[index][1], 1));
      }
    }
  }

  /// The sum of term `term` for columns l <= r.
  static __device__ __forceinline__ double kept_at(const Unit* kept, int term, int l, int r) {
    const int column_block = r / 8, first = column_blocks - 1 - column_block;
    const int pair = column_block < first ? column_block : first;
    const int product = product_of(l / 16, column_block >= first ? 0 : 1);
    const int row = l - first_column(l / 8), column = r - first_column(r / 8);
    const int value = term * term_values + product * 4 + l % 16 / 8 * 2 + column % 2;
    return kept[(pair * units + value / Unit::size) * 32 + row * 4 + column / 2].x[value % Unit::size];
  }
};
