// Y = alpha X op(S) + beta Y where X (rows x p) has so many columns that S does not fit beside it: blocks
// take TS_ROWS rows at a time, whose sums stay in registers while panels of X and of S stream through a ring
// in shared memory. X is read once; S, as fragments that wide_factor.cuh has laid out, comes from the L2
// cache for every TS_ROWS rows.
//
// X comes in boxes of TS_ROWS lines of 128 bytes (see tensor_copy.cuh), TS_BOXES of them side by side to a
// stage. Warps: TS_TEAMS with rows of their own, of which each of TS_COLUMN_WARPS computes some columns.
//
//   TS_TYPE, TS_CORE (0 or 1); TS_Q; TS_NARROW_S (see wide_factor.cuh)
//   TS_ROWS = 16 TS_TILES TS_TEAMS (at most 256), TS_TILES, TS_TEAMS, TS_COLUMN_WARPS
//   TS_BOXES, TS_STAGES
//   TS_ACCUMULATE   beta is not 0: Y is read
//   TS_COLUMNS_Y    Y lies by columns
//   TS_VECTOR_Y     rows of Y are stored in pieces of 16 bytes
#pragma once

#include "tallskinny/gemm/device/tensor_copy.cuh"
#include "tallskinny/gemm/tsmm/kernels/scalars.cuh"
#include "tallskinny/gemm/tsmm/kernels/split_repair.cuh"
#include "tallskinny/gemm/tsmm/kernels/wide.cuh"

constexpr int warps = TS_TEAMS * TS_COLUMN_WARPS, threads = 32 * warps;
constexpr int box_scalars = 128 / sizeof(Scalar), box_bytes = TS_ROWS * 128;
constexpr int box_blocks = box_scalars / 16, stage_blocks = TS_BOXES * box_blocks;  ///< of K
constexpr int block_bytes = column_blocks * 32 * static_cast<int>(sizeof(Fragment));
constexpr int x_bytes = TS_BOXES * box_bytes, s_bytes = stage_blocks * block_bytes;
constexpr int stage_bytes = x_bytes + s_bytes;

using Sums = AccumulatorTile[TS_TILES][parts][blocks_of_warp];

/// Blocks of columns that are multiplied at once: one in float64, up to four of 3xTF32, whose instructions
/// take turns.
constexpr int most_at_once = TS_CORE == 0 ? 1 : is_complex ? 2 : 4;
constexpr int at_once = blocks_of_warp % most_at_once == 0            ? most_at_once
                        : blocks_of_warp % 3 == 0 && most_at_once > 2 ? 3
                        : blocks_of_warp % 2 == 0                     ? 2
                                                                      : 1;

/// X as it is and, if complex, as the imaginary part of Y takes it.
struct FactorRows {
  Fragment lower[TS_TILES], upper[TS_TILES], imaginary_lower[TS_TILES], imaginary_upper[TS_TILES];
};

/// The fragments of the warp's blocks from First on, if there are any.
template <int First>
__device__ __forceinline__ void load_factors(Fragment (&f)[at_once], const unsigned char* factor,
                                             int column_warp, int lane) {
  if constexpr (First < blocks_of_warp)
#pragma unroll
    for (int j = 0; j < at_once; ++j) {
      int block = column_warp * blocks_of_warp + First + j;
      if (column_blocks % TS_COLUMN_WARPS != 0 && block >= column_blocks)
        block = 0;  // its sums are not stored
      f[j] = load_factor(factor, block, lane);
    }
}

/// sums += the products of one block of K with a warp's columns from block First on, of which `right` are the
/// first.
template <int First = 0>
__device__ __forceinline__ void multiply_factor(Sums& sum, const FactorRows& rows,
                                                const unsigned char* factor, const Fragment (&right)[at_once],
                                                int column_warp, int lane) {
  Fragment next[at_once];
  load_factors<First + at_once>(next, factor, column_warp, lane);
  asm volatile("" ::: "memory");  // what is loaded further ahead spills
  using Blocks = AccumulatorTile[at_once];
#pragma unroll
  for (int i = 0; i < TS_TILES; ++i) {
    multiply_add_row(reinterpret_cast<Blocks&>(sum[i][0][First]), rows.lower[i], rows.upper[i], right, 0);
    if constexpr (is_complex)
      multiply_add_row(reinterpret_cast<Blocks&>(sum[i][parts - 1][First]), rows.imaginary_lower[i],
                       rows.imaginary_upper[i], right, 0);
  }
  if constexpr (First + at_once < blocks_of_warp)
    multiply_factor<First + at_once>(sum, rows, factor, next, column_warp, lane);
}

using ts::cuda::OperandArgument;
struct WideResult {
  Result* data;
  int64 row_stride, column_stride;
};

/// The line, of eight, in place g of a tile: what a quarter of a warp reads at once meets in no bank.
__device__ __forceinline__ int line_of(int g) {
  constexpr int turn = sizeof(Scalar) == 8 ? 0 : sizeof(Scalar) == 4 ? 1 : 2;
  return (g >> turn | g << (3 - turn)) & 7;
}
/// Where lane (g, t) finds its four K of the first block of a box, in its line of the first eight.
__device__ __forceinline__ int lane_offset(int g, int t) {
  constexpr int bytes = 4 * sizeof(Scalar);
  return exchanged(line_of(g), t * bytes / 16) + t * bytes % 16;
}

/// Four K of a line; `at` is the lane's offset with the block of K within the box exchanged into it.
__device__ __forceinline__ Fragment load_line(const unsigned char* eight_lines, int at) {
  constexpr int size = sizeof(Scalar), each = size <= 4 ? 4 : 2;  // scalars at once
  Fragment f;
#pragma unroll
  for (int u = 0; u < 4; u += each) {
    const Words<each* size> words = load_words<each * size>(eight_lines + (at ^ u * size));
#pragma unroll
    for (int e = 0; e < each; ++e)
#if TS_TYPE <= 3
      set(f, u + e, scalar_of(words.w + e * (size / 4), Scalar()));
#else
      set_short(f, u + e, widen(Element{static_cast<unsigned short>(words.w[e / 2] >> (e % 2 * 16))}));
#endif
  }
  return f;
}

#if TS_CORE == 1
/// Scalar `part` of row x of X op(S), one product at a time.
__device__ __forceinline__ float sum_of(const Element* x, int64 column_stride, const WideFactor& s, int64 p,
                                        int column, int part) {
  float sum = 0;
#pragma unroll 1
  for (int64 k = 0; k < p; ++k) sum = add_product(sum, widen(x[k * column_stride]), s.at(k, column), part);
  return sum;
}
#endif

/// A warp's place, and its rows and columns of Y.
struct WarpTile {
  int64 first_row;  ///< of the warp's, in Y
  int column_warp, g, t;

  __device__ __forceinline__ int64 row(int tile, int half) const {
    return first_row + tile * 16 + half * 8 + line_of(g);
  }
  /// The first of the neighbouring columns that `dealt` blocks from b on hold.
  __device__ __forceinline__ int column(int b) const {
    return column_of(column_warp * blocks_of_warp + b, 2 * t);
  }
};

/// Stores a warp's results. Lanes that stand side by side have neighbouring columns.
__device__ __forceinline__ void store(const Sums& sum, const WideResult& y, int64 rows, const WarpTile& at,
                                      const Scalars& scalars) {
  constexpr int size = sizeof(Result), count = 2 * dealt;
  constexpr int each = TS_VECTOR_Y ? (count * size < 16 ? count : 16 / size) : 1;
  using Piece = Vector<Result, each, TS_VECTOR_Y ? each * size : sizeof(Real)>;
#pragma unroll
  for (int i = 0; i < TS_TILES; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64 row = at.row(i, half);
      if (row >= rows) continue;
      Result* const line = y.data + row * y.row_stride;
#pragma unroll
      for (int b = 0; b < blocks_of_warp; b += dealt)
#pragma unroll
        for (int c = 0; c < count; c += each) {
          const int column = at.column(b) + c;
          if (column >= TS_Q) continue;
          Piece* const to = reinterpret_cast<Piece*>(line + column * (TS_VECTOR_Y ? 1 : y.column_stride));
          Piece piece;
          if (TS_ACCUMULATE) piece = *to;
#pragma unroll
          for (int u = 0; u < each; ++u) {
            const int block = b + (c + u) / 2, e = half * 2 + (c + u) % 2;
            piece.part[u] = scalars.apply(sum[i][0][block][e], sum[i][parts - 1][block][e], piece.part[u]);
          }
          *to = piece;
        }
    }
}

/// `panels` of TS_BOXES boxes make a row. Panels of tile i begin at number i turn / tiles: a D whose rows are
/// a large power of two apart is read at different columns at any time. `conjugate`: of the sums.
extern "C" __global__ void __launch_bounds__(threads, 1)
    tsmm_wide(const __grid_constant__ TensorMap map, OperandArgument x, WideFactor s,
              const unsigned char* factor, WideResult y, int64 rows, int64 p, int panels, int turn,
              int conjugate, Complex<double> wide_alpha, Complex<double> wide_beta) {
  extern __shared__ unsigned char unaligned[];
  __shared__ uint64 full[TS_STAGES], empty[TS_STAGES];
  unsigned char* const ring = unaligned + (-shared_address(unaligned) & 1023);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int team = warp / TS_COLUMN_WARPS;
  const Scalars scalars{{static_cast<Sum>(wide_alpha.re), static_cast<Sum>(wide_alpha.im)},
                        {static_cast<Sum>(wide_beta.re), static_cast<Sum>(wide_beta.im)}};
  if (thread == 0) {
    for (int i = 0; i < TS_STAGES; ++i)
      barrier_init(full + i, 1), barrier_init(empty + i, warps * warp_arrivals);
    barrier_init_fence();
  }
  __syncthreads();

  const int tiles = static_cast<int>((rows + TS_ROWS - 1) / TS_ROWS);
  const auto first_panel = [&](int tile) {
    return static_cast<int>(static_cast<int64>(tile) * turn / tiles);
  };
  // By the first warp: the panel after the one that it loaded last.
  int tile_to_load = static_cast<int>(blockIdx.x), loaded = 0;
  RingPosition<TS_STAGES> to_load;
  const auto load = [&] {
    if (tile_to_load >= tiles) return;
    barrier_wait(empty + to_load.stage, to_load.parity ^ 1);
#if __CUDA_ARCH__ >= 900
    if (lane == 0) {
      int panel = first_panel(tile_to_load) + loaded;
      if (panel >= panels) panel -= panels;
      unsigned char* const stage = ring + to_load.stage * stage_bytes;
      uint64* const barrier = full + to_load.stage;
      barrier_arrive_expecting(barrier, stage_bytes);
#pragma unroll
      for (int box = 0; box < TS_BOXES; ++box)
        tensor_load(stage + box * box_bytes, map, (panel * TS_BOXES + box) * box_scalars,
                    tile_to_load * TS_ROWS, barrier);
      bulk_load(stage + x_bytes, factor + static_cast<int64>(panel) * s_bytes, s_bytes, barrier);
    }
    __syncwarp();
#endif
    to_load.advance();
    if (++loaded == panels) loaded = 0, tile_to_load += static_cast<int>(gridDim.x);
  };
  if (warp == 0)
#pragma unroll 1
    for (int i = 0; i + 1 < TS_STAGES; ++i) load();

  const int column_warp = warp % TS_COLUMN_WARPS, offset = lane_offset(lane / 4, lane % 4);
  RingPosition<TS_STAGES> at;
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    Sums sum = {};
    for (int panel = 0; panel < panels; ++panel) {
      if (warp == 0) load();  // into the stage that was used last
      barrier_wait(full + at.stage, at.parity);
      const unsigned char* const stage = ring + at.stage * stage_bytes;
#pragma unroll 1
      for (int kb = 0; kb < stage_blocks; ++kb) {
        const unsigned char* const lines = stage + kb / box_blocks * box_bytes + team * (TS_TILES * 16 * 128);
        const unsigned char* const factors = stage + x_bytes + kb * block_bytes;
        const int at_kb = offset ^ (kb % box_blocks * (128 / box_blocks));
        FactorRows rows_of_x;
        Fragment right[at_once];
#pragma unroll
        for (int i = 0; i < TS_TILES; ++i) {
          rows_of_x.lower[i] = load_line(lines + i * 2048, at_kb);
          rows_of_x.upper[i] = load_line(lines + i * 2048 + 1024, at_kb);
          if (is_complex)
            rows_of_x.imaginary_lower[i] = imaginary_of(rows_of_x.lower[i]),
            rows_of_x.imaginary_upper[i] = imaginary_of(rows_of_x.upper[i]);
        }
        load_factors<0>(right, factors, column_warp, lane);
        multiply_factor(sum, rows_of_x, factors, right, column_warp, lane);
      }
      __syncwarp();
      if (arrives_for_warp(lane)) barrier_arrive(empty + at.stage);
      at.advance();
    }
    int late_lane = lane;  // nothing that follows from it is kept beside the sums
    asm volatile("" : "+r"(late_lane));
    const WarpTile place{static_cast<int64>(tile) * TS_ROWS + team * (TS_TILES * 16), column_warp,
                         late_lane / 4, late_lane % 4};
#if TS_CORE == 1
    repair(sum, [&](float& mended, SumNumber number) {
      const int column = number.column(place.column_warp, place.t);
      const int64 row = place.row(number.tile(), number.place() / 2);
      if (mended != mended && column < TS_Q && row < rows)
        mended = sum_of(static_cast<const Element*>(x.data) + row * x.row_stride, x.column_stride, s, p,
                        column, number.part());
    });
#endif
    if (is_complex && conjugate)
#pragma unroll
      for (int i = 0; i < TS_TILES; ++i)
#pragma unroll
        for (int b = 0; b < blocks_of_warp; ++b)
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[i][parts - 1][b][e] = -sum[i][parts - 1][b][e];
    store(sum, y, rows, place, scalars);
  }
}
