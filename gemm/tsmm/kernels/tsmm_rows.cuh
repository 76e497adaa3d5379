// What the chunks of tsmm.cuh have in common that go through tensor instructions: rows are the 16 of a tile,
// K the columns of X; four K-neighbours of a lane are neighbours in memory. The columns of S are permuted so
// that a lane ends up with neighbouring results.
#pragma once

#include "tallskinny/gemm/tsmm/kernels/split_repair.cuh"
#include "tallskinny/gemm/tsmm/kernels/tsmm_chunk.cuh"
#include "tallskinny/gemm/tsmm/kernels/warp_columns.cuh"

/// Blocks of 16 scalars of K; those that are whole.
constexpr int k_blocks = policy.k_blocks(), whole_blocks = policy.p * parts / 16;

/// Number u of the four scalars of K that lane group t has of a block: neighbours in memory, or else such
/// that lanes that read together meet in no bank.
__device__ __forceinline__ constexpr int scalar_of_lane(int block, int t, int u) {
  return block * 16 + (X::by_columns ? t * parts + u / parts * (4 * parts) + u % parts : 4 * t + u);
}

/// The team's row in a place of a tile of 16: half of them come from each sub-block.
__device__ __forceinline__ int row_of(int tile, int index) {
  return X::by_columns ? tile * 16 + index : (index & 1) * (policy.team_rows() / 2) + tile * 8 + (index >> 1);
}

/// Where in a slot a lane's rows begin, two of each tile.
using Rows = int[policy.tiles][2];
__device__ __forceinline__ void find_rows(const X& x, const Place& place, Rows& row) {
#pragma unroll
  for (int i = 0; i < policy.tiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      row[i][half] = x.row_offset(place.first_row() + row_of(i, place.lane / 4 + 8 * half));
}

/// The scalars of a block of K of a row that lane group t has; what is beyond the width counts as zero.
template <bool Whole, int V = policy.vector_x>
__device__ __forceinline__ Fragment load_row(const X& x, const unsigned char* row, int block, int t) {
  constexpr int v = V, size = X::scalar_size;
  Fragment f;
#pragma unroll
  for (int i = 0; i < 4; i += v) {
    const int k = scalar_of_lane(block, t, i);
    const bool valid = Whole || k < policy.p * parts;  // vectors do not straddle the end
    const int at = valid ? x.column_offset(k / parts) + k % parts * size : 0;
    if constexpr (v * size >= 4) {
      const Words<v* size> words = load_words<v * size>(row + at);
#pragma unroll
      for (int e = 0; e < v; ++e) set_scalar<Scalar>(f, i + e, words.w, e, valid);
    } else {
      set_short(f, i, valid ? widen(*reinterpret_cast<const Scalar*>(row + at)) : 0);  // 16-bit types alone
    }
  }
  return f;
}

using Sums = AccumulatorTile[policy.tiles][parts][blocks_of_warp];

/// Scalar (row, column) of X op(S), one product at a time.
__device__ __forceinline__ float sum_of(const X& x, const unsigned char* row, const Factor& s, int column, int part) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < policy.p; ++k) {
    const Element value = *reinterpret_cast<const Element*>(row + x.column_offset(k));
    sum = add_product(sum, widen(value), s.at(k, column), part);
  }
  return sum;
}

/// A lane's neighbouring results of a row, which `dealt` blocks hold: 16 bytes at a time where they stand
/// aligned. Even and odd rows begin with different halves of 32 bytes, or they would meet in a bank.
__device__ __forceinline__ void put(Result* line, const AccumulatorTile (&sum)[parts][blocks_of_warp], int first_block,
                                    int b, int half, int t, int g, const Scalars& scalars) {
  constexpr int size = sizeof(Result), count = 2 * dealt, pieces = count * size / 16;
  const int column = column_of(first_block + b, 2 * t);
  const auto result = [&](int i, const Result& before) {
    const int e = half * 2 + i % 2;
    return scalars.apply(sum[0][b + i / 2][e], sum[parts - 1][b + i / 2][e], before);
  };
  if constexpr (!policy.accumulate && !policy.columns_y && policy.q * size % 16 == 0 && pieces > 0) {
    constexpr int each = 16 / size;
    using Piece = Vector<Result, each, 16>;
    Piece piece[pieces > 0 ? pieces : 1];
#pragma unroll
    for (int i = 0; i < count; ++i) piece[i / each].part[i % each] = result(i, Result{});
    const bool swap = pieces == 2 && g % 2 == 1;
#pragma unroll
    for (int turn = 0; turn < pieces; ++turn) {
      Piece mine;
#pragma unroll
      for (int i = 0; i < each; ++i) mine.part[i] = swap ? piece[pieces - 1 - turn].part[i] : piece[turn].part[i];
      const int at = column + (swap ? pieces - 1 - turn : turn) * each;
      if (at < policy.q) *reinterpret_cast<Piece*>(line + at) = mine;
    }
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      Result* const at = line + (column + i) * policy.y_column_pitch();
      if (column + i < policy.q) *at = result(i, *at);
    }
  }
}

/// Results of a warp take their place.
__device__ __forceinline__ void put_all(Sums& sum, const X& x, unsigned char* slot, const Rows& row, const Factor& s,
                                        const Place& place, const Scalars& scalars) {
  const int g = place.lane / 4, t = place.lane % 4;
  repair(sum, [&](float& mended, SumNumber number) {
    const int column = number.column(place.column_warp, t), part = number.part(), tile = number.tile();
    int at = 0;
#pragma unroll
    for (int i = 0; i < policy.tiles; ++i)
      if (i == tile) at = number.place() < 2 ? row[i][0] : row[i][1];
    if (mended != mended && column < policy.q) mended = sum_of(x, slot + at, s, column, part);
  });
  place.sync_readers();
  Result* const y = place.results(slot);
#pragma unroll
  for (int i = 0; i < policy.tiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Result* const line = y + row_of(i, g + 8 * half) * policy.y_row_pitch();
#pragma unroll
      for (int b = 0; b < blocks_of_warp; b += dealt)
        put(line, sum[i], place.column_warp * blocks_of_warp, b, half, t, g, scalars);
    }
}
