// The steps of tsmttsm.cuh: each warp multiplies a tile of the product, by one real product for it or by three.
#pragma once

#include "tallskinny/gemm/tsmttsm/kernels/tsmttsm_tiles.cuh"

/// Each warp multiplies a tile of the product, whose fragments are F.
template <class F>
struct TileSharing {
  /// Where a lane finds its columns of the slice's first step in a stage.
  struct Columns {
    int left[left_vectors], right[right_vectors];
  };
  static __device__ __forceinline__ Columns find_columns(const Left& left_side, const Right& right_side, int first_step,
                                                         int left_tile, int right_tile, int lane) {
    const int g = lane / 4, t = lane % 4;
    Columns columns;
#pragma unroll
    for (int i = 0; i < left_vectors; ++i)
      columns.left[i] =
          policy.left_offset() + first_step * Left::step_bytes +
          left_side.offset(t, vector_column<Left>(left_tile * tile_rows * column_scalars + i * 8 * Left::vector, g));
#pragma unroll
    for (int i = 0; i < right_vectors; ++i)
      columns.right[i] =
          policy.right_offset() + first_step * Right::step_bytes +
          right_side.offset(
              t, vector_column<Right>(right_tile * tile_columns * column_scalars + i * 8 * Right::vector, g));
    return columns;
  }

  /// Within a diagonal tile, blocks wholly below the diagonal are left out: the first that is not, beside
  /// `block` of 8 columns on the left.
  static constexpr int first_block(int block) { return policy.gram && policy.warps_left == 1 ? block : 0; }

  /// One step: 16 rows of a warp's tile. `sign` is that of the imaginary part of A.
  static __device__ __forceinline__ void step(Sums& sums, const unsigned char* left, const unsigned char* right,
                                              const Columns& columns, double sign) {
    if constexpr (policy.three)
      step_of_three(sums, left, right, columns, sign);
    else
      step_of_one(sums, left, right, columns);
  }

  /// By three real products for a complex one.
  static __device__ __forceinline__ void step_of_three(Sums& sums, const unsigned char* left,
                                                       const unsigned char* right, const Columns& columns,
                                                       double sign) {
    const double left_sign = policy.swap ? 1 : sign, right_sign = policy.swap ? sign : 1;
    F r[3][tiles_right];
#pragma unroll
    for (int j = 0; j < tiles_right; ++j) {
      F parts[2];
      load<Right>(right + columns.right[j], parts);
      r[0][j] = parts[0], r[1][j] = parts[1], r[2][j] = sum_of(parts[0], parts[1], right_sign);
    }
#pragma unroll
    for (int i = 0; i < tiles_left; ++i) {
      F lower[2], upper[2];
      load<Left>(left + columns.left[2 * i], lower);
      load<Left>(left + columns.left[2 * i + 1], upper);
#pragma unroll
      for (int part = 0; part < 2; ++part)
        multiply_add_row(sums.row(part, i), lower[part], upper[part], r[part], first_block(2 * i));
      multiply_add_row(sums.row(2, i), sum_of(lower[0], lower[1], left_sign), sum_of(upper[0], upper[1], left_sign),
                       r[2], first_block(2 * i));
    }
  }
  static __device__ __forceinline__ void step_of_one(Sums& sums, const unsigned char* left, const unsigned char* right,
                                                     const Columns& columns) {
    F r[tiles_right];
#pragma unroll
    for (int group = 0; group < right_vectors; ++group)
      load<Right>(right + columns.right[group], *reinterpret_cast<F(*)[Right::vector]>(r + group * Right::vector));
    constexpr int at_once = Left::vector < 2 ? 2 : Left::vector;  // blocks of 8 columns
#pragma unroll
    for (int block = 0; block < 2 * tiles_left; block += at_once) {
      F l[at_once];
#pragma unroll
      for (int i = 0; i < at_once; i += Left::vector)
        load<Left>(left + columns.left[(block + i) / Left::vector], *reinterpret_cast<F(*)[Left::vector]>(l + i));
#pragma unroll
      for (int i = 0; i < at_once; i += 2)
        multiply_add_row(sums.row(0, (block + i) / 2), l[i], l[i + 1], r,
                         first_block(block + i) / Left::vector * Right::vector);
    }
  }

  /// The sum of term `term` for columns l of the left factor and r of the right one.
  static __device__ __forceinline__ double kept_at(const Unit* kept, int term, int l, int r) {
    constexpr int left_vector = Left::vector / column_scalars, right_vector = Right::vector / column_scalars;
    const int left = l % tile_rows, right = r % tile_columns;
    const int block = block_of<left_vector>(left), index = index_of<right_vector>(right);
    const int value =
        term * term_values + (block / 2 * tiles_right + block_of<right_vector>(right)) * 4 + block % 2 * 2 + index % 2;
    const int u = tile_number(l / tile_rows, r / tile_columns) * units + value / Unit::size;
    return kept[u * 32 + index_of<left_vector>(left) * 4 + index / 2].x[value % Unit::size];
  }
};
