// The steps of tsmttsm.cuh: each warp multiplies a tile of the product, by one real product for it or by three.
#pragma once

#include "tallskinny/gemm/tsmttsm/kernels/tsmttsm_tiles.cuh"

/// A warp has all products of its tile.
struct Reach {};

/// Within a diagonal tile, blocks wholly below the diagonal are left out: the first that is not, beside
/// `block` of 8 columns on the left.
__host__ __device__ constexpr int first_block(int block) { return TS_GRAM && TS_WARPS_L == 1 ? block : 0; }

#if TS_THREE
/// One step: 16 rows of a warp's tile. `sign` is that of the imaginary part of A.
__device__ __forceinline__ void step(Sums& sums, const unsigned char* left, const unsigned char* right,
                                     const int (&left_offset)[left_vectors], const int (&right_offset)[right_vectors],
                                     Reach, double sign) {
  const double left_sign = TS_SWAP ? 1 : sign, right_sign = TS_SWAP ? sign : 1;
  Fragment r[3][TS_TILES_R];
#pragma unroll
  for (int j = 0; j < TS_TILES_R; ++j) {
    Fragment parts[2];
    load<Right>(right + right_offset[j], parts);
    r[0][j] = parts[0], r[1][j] = parts[1], r[2][j] = sum_of(parts[0], parts[1], right_sign);
  }
#pragma unroll
  for (int i = 0; i < TS_TILES_L; ++i) {
    Fragment lower[2], upper[2];
    load<Left>(left + left_offset[2 * i], lower);
    load<Left>(left + left_offset[2 * i + 1], upper);
#pragma unroll
    for (int part = 0; part < 2; ++part)
      multiply_add_row(sums.row(part, i), lower[part], upper[part], r[part], first_block(2 * i));
    multiply_add_row(sums.row(2, i), sum_of(lower[0], lower[1], left_sign), sum_of(upper[0], upper[1], left_sign), r[2],
                     first_block(2 * i));
  }
}
#else
/// One step: 16 rows of a warp's tile.
__device__ __forceinline__ void step(Sums& sums, const unsigned char* left, const unsigned char* right,
                                     const int (&left_offset)[left_vectors], const int (&right_offset)[right_vectors],
                                     Reach, double) {
  Fragment r[TS_TILES_R];
#pragma unroll
  for (int group = 0; group < right_vectors; ++group)
    load<Right>(right + right_offset[group], *reinterpret_cast<Fragment(*)[Right::vector]>(r + group * Right::vector));
  constexpr int at_once = Left::vector < 2 ? 2 : Left::vector;  // blocks of 8 columns
#pragma unroll
  for (int block = 0; block < 2 * TS_TILES_L; block += at_once) {
    Fragment l[at_once];
#pragma unroll
    for (int i = 0; i < at_once; i += Left::vector)
      load<Left>(left + left_offset[(block + i) / Left::vector], *reinterpret_cast<Fragment(*)[Left::vector]>(l + i));
#pragma unroll
    for (int i = 0; i < at_once; i += 2)
      multiply_add_row(sums.row(0, (block + i) / 2), l[i], l[i + 1], r,
                       first_block(block + i) / Left::vector * Right::vector);
  }
}
#endif

/// The sum of term `term` for columns l of the left factor and r of the right one.
__device__ __forceinline__ double kept_at(const Unit* kept, int term, int l, int r) {
  constexpr int left_vector = Left::vector / column_scalars, right_vector = Right::vector / column_scalars;
  const int left = l % tile_rows, right = r % tile_columns;
  const int block = block_of<left_vector>(left), index = index_of<right_vector>(right);
  const int value =
      term * term_values + (block / 2 * TS_TILES_R + block_of<right_vector>(right)) * 4 + block % 2 * 2 + index % 2;
  const int u = tile_number(l / tile_rows, r / tile_columns) * units + value / Unit::size;
  return kept[u * 32 + index_of<left_vector>(left) * 4 + index / 2].x[value % Unit::size];
}
