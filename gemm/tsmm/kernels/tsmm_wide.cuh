// Y = alpha X op(S) + beta Y where X (rows x p) has so many columns that S does not fit beside it: blocks take some
// rows at a time, whose sums stay in registers while panels of X and of S stream through a ring in shared memory. X is
// read once; S, as fragments that wide_factor.cuh has laid out, comes from the L2 cache for every tile of rows.
//
// X comes in boxes of lines of 128 bytes (see tensor_copy.cuh), some of them side by side to a stage. Warps: teams that
// have rows of their own, of which each warp of a team computes some columns.
#pragma once

#include "tallskinny/gemm/device/tensor_copy.cuh"
#include "tallskinny/gemm/tsmm/kernels/scalars.cuh"
#include "tallskinny/gemm/tsmm/kernels/split_repair.cuh"
#include "tallskinny/gemm/tsmm/kernels/wide.cuh"

using Sums = AccumulatorTile[policy.tiles][parts][blocks_of_warp];

/// Blocks of columns that are multiplied at once: one in float64, up to four of 3xTF32, whose instructions
/// take turns.
constexpr int most_at_once = !is_split ? 1 : is_complex ? 2 : 4;
constexpr int at_once = blocks_of_warp % most_at_once == 0            ? most_at_once
                        : blocks_of_warp % 3 == 0 && most_at_once > 2 ? 3
                        : blocks_of_warp % 2 == 0                     ? 2
                                                                      : 1;

/// X as it is and, if complex, as the imaginary part of Y takes it.
struct FactorRows {
  Fragment lower[policy.tiles], upper[policy.tiles], imaginary_lower[policy.tiles], imaginary_upper[policy.tiles];
};

/// The fragments of the warp's blocks from First on, if there are any.
template <int First>
__device__ __forceinline__ void load_factors(Fragment (&f)[at_once], const unsigned char* factor, int column_warp,
                                             int lane) {
  if constexpr (First < blocks_of_warp)
#pragma unroll
    for (int j = 0; j < at_once; ++j) {
      int block = column_warp * blocks_of_warp + First + j;
      if (column_blocks % policy.column_warps != 0 && block >= column_blocks) block = 0;  // its sums are not stored
      load_factor(factor, block, lane, f[j]);
    }
}

/// sums += the products of one block of K with a warp's columns from block First on, of which `right` are the
/// first.
template <int First = 0>
__device__ __forceinline__ void multiply_factor(Sums& sum, const FactorRows& rows, const unsigned char* factor,
                                                const Fragment (&right)[at_once], int column_warp, int lane) {
  Fragment next[at_once];
  load_factors<First + at_once>(next, factor, column_warp, lane);
  asm volatile("" ::: "memory");  // what is loaded further ahead spills
  using Blocks = AccumulatorTile[at_once];
#pragma unroll
  for (int i = 0; i < policy.tiles; ++i) {
    multiply_add_row(reinterpret_cast<Blocks&>(sum[i][0][First]), rows.lower[i], rows.upper[i], right, 0);
    if constexpr (is_complex)
      multiply_add_row(reinterpret_cast<Blocks&>(sum[i][parts - 1][First]), rows.imaginary_lower[i],
                       rows.imaginary_upper[i], right, 0);
  }
  if constexpr (First + at_once < blocks_of_warp)
    multiply_factor<First + at_once>(sum, rows, factor, next, column_warp, lane);
}

struct ResultRows {
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
    for (int e = 0; e < each; ++e) set_scalar<Scalar>(f, u + e, words.w, e, true);
  }
  return f;
}

/// Scalar `part` of row x of X op(S), one product at a time.
__device__ __forceinline__ float sum_of(const Element* x, int64 column_stride, const WideFactor& s, int64 p, int column,
                                        int part) {
  float sum = 0;
#pragma unroll 1
  for (int64 k = 0; k < p; ++k) sum = add_product(sum, widen(x[k * column_stride]), s.at(k, column), part);
  return sum;
}

/// A warp's place, and its rows and columns of Y.
struct WarpTile {
  int64 first_row;  ///< of the warp's, in Y
  int column_warp, g, t;

  __device__ __forceinline__ int64 row(int tile, int half) const {
    return first_row + tile * 16 + half * 8 + line_of(g);
  }
  /// The first of the neighbouring columns that `dealt` blocks from b on hold.
  __device__ __forceinline__ int column(int b) const { return column_of(column_warp * blocks_of_warp + b, 2 * t); }
};

/// Stores a warp's results. Lanes that stand side by side have neighbouring columns.
__device__ __forceinline__ void store(const Sums& sum, const ResultRows& y, int64 rows, const WarpTile& at,
                                      const Scalars& scalars) {
  constexpr int size = sizeof(Result), count = 2 * dealt;
  constexpr int each = policy.vector_y ? (count * size < 16 ? count : 16 / size) : 1;
  using Piece = Vector<Result, each, policy.vector_y ? each * size : sizeof(Real)>;
#pragma unroll
  for (int i = 0; i < policy.tiles; ++i)
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
          if (column >= policy.q) continue;
          Piece* const to = reinterpret_cast<Piece*>(line + column * (policy.vector_y ? 1 : y.column_stride));
          Piece piece;
          if (policy.accumulate) piece = *to;
#pragma unroll
          for (int u = 0; u < each; ++u) {
            const int block = b + (c + u) / 2, e = half * 2 + (c + u) % 2;
            piece.part[u] = scalars.apply(sum[i][0][block][e], sum[i][parts - 1][block][e], piece.part[u]);
          }
          *to = piece;
        }
    }
}

/// The producer's side of the ring, by the first warp: panels in the order in which tiles take them.
struct PanelLoader {
  const ts::cuda::WideArguments& a;
  unsigned char* ring;
  uint64 *full, *empty;
  int tiles, tile;  ///< of the panel that is loaded next
  int loaded = 0;   ///< panels of that tile
  RingPosition<policy.stages> to = {};

  __device__ __forceinline__ void load(int lane) {
    if (tile >= tiles) return;
    barrier_wait(empty + to.stage, to.parity ^ 1);
#if __CUDA_ARCH__ >= 900
    if (lane == 0) {
      int panel = static_cast<int>(static_cast<int64>(tile) * a.turn / tiles) + loaded;
      if (panel >= a.panels) panel -= a.panels;
      unsigned char* const stage = ring + to.stage * policy.stage_bytes();
      uint64* const barrier = full + to.stage;
      barrier_arrive_expecting(barrier, policy.stage_bytes());
#pragma unroll
      for (int box = 0; box < policy.boxes; ++box)
        tensor_load(stage + box * policy.box_bytes(), a.map, (panel * policy.boxes + box) * policy.box_scalars(),
                    tile * policy.rows(), barrier);
      bulk_load(stage + policy.x_bytes(), a.factor + static_cast<int64>(panel) * policy.s_bytes(), policy.s_bytes(),
                barrier);
    }
    __syncwarp();
#endif
    to.advance();
    if (++loaded == a.panels) loaded = 0, tile += static_cast<int>(gridDim.x);
  }
};

/// sums += the products of a warp's rows and columns of a panel.
__device__ __forceinline__ void multiply_panel(Sums& sum, const unsigned char* stage, int team, int column_warp,
                                               int lane, int offset) {
#pragma unroll 1
  for (int kb = 0; kb < policy.stage_blocks(); ++kb) {
    const unsigned char* const lines =
        stage + kb / policy.box_blocks() * policy.box_bytes() + team * (policy.team_rows() * 128);
    const unsigned char* const factors = stage + policy.x_bytes() + kb * policy.block_bytes();
    const int at_kb = offset ^ (kb % policy.box_blocks() * (128 / policy.box_blocks()));
    FactorRows rows_of_x;
    Fragment right[at_once];
#pragma unroll
    for (int i = 0; i < policy.tiles; ++i) {
      rows_of_x.lower[i] = load_line(lines + i * 2048, at_kb);
      rows_of_x.upper[i] = load_line(lines + i * 2048 + 1024, at_kb);
      if (is_complex)
        rows_of_x.imaginary_lower[i] = imaginary_of(rows_of_x.lower[i]),
        rows_of_x.imaginary_upper[i] = imaginary_of(rows_of_x.upper[i]);
    }
    load_factors<0>(right, factors, column_warp, lane);
    multiply_factor(sum, rows_of_x, factors, right, column_warp, lane);
  }
}

__device__ __forceinline__ void conjugate_sums(Sums& sum) {
#pragma unroll
  for (int i = 0; i < policy.tiles; ++i)
#pragma unroll
    for (int b = 0; b < blocks_of_warp; ++b)
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[i][parts - 1][b][e] = -sum[i][parts - 1][b][e];
}

extern "C" __global__ void __launch_bounds__(policy.threads(), 1)
    tsmm_wide(const __grid_constant__ ts::cuda::WideArguments a) {
  extern __shared__ unsigned char unaligned[];
  __shared__ uint64 full[policy.stages], empty[policy.stages];
  unsigned char* const ring = unaligned + (-shared_address(unaligned) & 1023);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int team = warp / policy.column_warps, column_warp = warp % policy.column_warps;
  const WideFactor s(a.s);
  const ResultRows y{static_cast<Result*>(a.y.data), a.y.row_stride, a.y.column_stride};
  const Scalars scalars(a.alpha, a.beta);
  if (thread == 0) {
    for (int i = 0; i < policy.stages; ++i)
      barrier_init(full + i, 1), barrier_init(empty + i, policy.warps() * warp_arrivals);
    barrier_init_fence();
  }
  __syncthreads();

  const int tiles = static_cast<int>((a.rows + policy.rows() - 1) / policy.rows());
  PanelLoader loader{a, ring, full, empty, tiles, static_cast<int>(blockIdx.x)};
  if (warp == 0)
#pragma unroll 1
    for (int i = 0; i + 1 < policy.stages; ++i) loader.load(lane);

  const int offset = lane_offset(lane / 4, lane % 4);
  RingPosition<policy.stages> at;
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    Sums sum = {};
    for (int panel = 0; panel < a.panels; ++panel) {
      if (warp == 0) loader.load(lane);  // into the stage that was used last
      barrier_wait(full + at.stage, at.parity);
      multiply_panel(sum, ring + at.stage * policy.stage_bytes(), team, column_warp, lane, offset);
      __syncwarp();
      if (arrives_for_warp(lane)) barrier_arrive(empty + at.stage);
      at.advance();
    }
    int late_lane = lane;  // nothing that follows from it is kept beside the sums
    asm volatile("" : "+r"(late_lane));
    const WarpTile place{static_cast<int64>(tile) * policy.rows() + team * policy.team_rows(), column_warp,
                         late_lane / 4, late_lane % 4};
    repair(sum, [&](float& mended, SumNumber number) {
      const int column = number.column(place.column_warp, place.t);
      const int64 row = place.row(number.tile(), number.place() / 2);
      if (mended != mended && column < policy.q && row < a.rows)
        mended = sum_of(static_cast<const Element*>(a.x.data) + row * a.x.row_stride, a.x.column_stride, s, a.p, column,
                        number.part());
    });
    if (is_complex && a.conjugate) conjugate_sums(sum);
    store(sum, y, a.rows, place, scalars);
  }
}
