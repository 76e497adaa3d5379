// The projections of rows: h = Q^T v, v = (x - shift) scale, in float16, or in integers of 8 bits, `per` times as
// large, and norms that bound what projections leave of rows. Tensor instructions multiply rows, rounded to float16, by
// axes, which are float16 numbers themselves and orthonormal up to their rounding: G = Q^T Q, ||G - 1|| <= delta. A
// block takes a tile of rows and all axes, stage by stage of 64 columns: of rows it loads those of the next stage while
// it multiplies.
//
// With P = Q G^-1 Q^T, which projects onto the axes, v c = (Q^T v) (G^-1 Q^T c) + (v - P v) (c - P c). So centroids
// have projections k = G^-1 Q^T c, for which products of projections are what they are for orthonormal axes. Of the
// vector y = Q^T v the numbers here are wrong by at most e = by_norm ||v|| + constant: rounding of v, and of sums, of
// which each of `steps` instructions loses 18 2^-23 of the largest term or sum (assign_bounds.cuh). So
//   ||Q^T v - h|| <= ||y - h|| + e,
//   ||v - P v||^2 = ||v||^2 - y G^-1 y <= ||v||^2 - max(0, ||y|| - e)^2 / (1 + delta).
// Sums of squares of float32 numbers lose less than (d / 8 + 32) 2^-23 of themselves. An integer is off by at most what
// it is the rounding of, so that ||h|| <= 2 ||y||.
#include "tallskinny/gemm/device/pipeline.cuh"
#include "tallskinny/gemm/device/warp.cuh"
#include "tallskinny/solvers/kmeans/pass/filter/kernels/projection_norms.cuh"
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"

constexpr bool int8 = policy.numbers == ts::ProjectionNumbers::int8;
constexpr int threads = policy.threads, rows = policy.rows(), columns = policy.columns, stages = policy.stages;
constexpr int column_warps = policy.column_warps(), of_warp = columns / column_warps, blocks_of_8 = of_warp / 8;
constexpr int row_tiles = rows * column_warps / (threads / 32) / 16;  ///< of a warp
constexpr int line = policy.stage_columns, pieces = 8, turns = rows * pieces / threads;
constexpr int rows_bytes = 2 * line * rows, vector = policy.vector, vectors = 8 / vector;
static_assert(blocks_of_8 % 2 == 0 && turns >= 1);
using Piece = Vector<Element, vector, policy.alignment>;

/// Offset of eight numbers in lines of 128 bytes, swizzled against bank conflicts.
__device__ __forceinline__ int place(int row, int piece) { return row * (2 * line) + ((piece ^ row) & 7) * 16; }

__device__ __forceinline__ void load_four(uint32 (&f)[4], const unsigned char* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(shared_address(from))
               : "memory");
}

/// A thread's raw numbers of a stage: eight of each of `turns` rows.
struct Loaded {
  Piece part[turns][vectors];

  __device__ __forceinline__ void load(const ts::cuda::RowsArgument& x, int64 first, int d, int stage) {
    const int column = stage * line + static_cast<int>(threadIdx.x) % pieces * 8;
#pragma unroll
    for (int u = 0; u < turns; ++u) {
      const int64 row = first + threadIdx.x / pieces + u * (threads / pieces);
#pragma unroll
      for (int q = 0; q < vectors; ++q) {
        if (row < x.count && column + q * vector < d)
          part[u][q] = *reinterpret_cast<const Piece*>(row_of(x, row) + column + q * vector);
        else
          part[u][q] = {};
      }
    }
  }
  /// Leaves them shifted, scaled and rounded, and adds their squares. (Behind the last column shifts are 0, too.)
  __device__ __forceinline__ void leave(unsigned char* to, const float* shifts, float scale, int stage,
                                        float (&all)[turns]) const {
    const int piece = threadIdx.x % pieces;
    float shift[8];
#pragma unroll
    for (int e = 0; e < 8; e += 4) {
      const float4 four = *reinterpret_cast<const float4*>(shifts + stage * line + piece * 8 + e);
      shift[e] = four.x, shift[e + 1] = four.y, shift[e + 2] = four.z, shift[e + 3] = four.w;
    }
#pragma unroll
    for (int u = 0; u < turns; ++u) {
      const int row = threadIdx.x / pieces + u * (threads / pieces);
      uint32 both[4];
#pragma unroll
      for (int e = 0; e < 8; e += 2) {
        float v[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int at = e + half;
          v[half] = __fmaf_rn(widen(part[u][at / vector].part[at % vector]), scale, shift[at]);
          all[u] = __fmaf_rn(v[half], v[half], all[u]);
        }
        both[e / 2] = halves(v[0], v[1]);
      }
      *reinterpret_cast<uint4*>(to + place(row, piece)) = {both[0], both[1], both[2], both[3]};
    }
  }
};

/// Begins to bring a stage of axes.
__device__ __forceinline__ void load_axes(unsigned char* to, const void* axes, int stage, int stage_count) {
  if (stage < stage_count) {
    const auto* const from = static_cast<const unsigned char*>(axes) + static_cast<int64>(stage) * columns * 2 * line;
    for (int i = threadIdx.x; i < columns * pieces; i += threads)
      copy_async<16>(to + place(i / pieces, i % pieces), from + 16 * i, 16);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

using Sums = float[row_tiles][blocks_of_8][4];

__device__ __forceinline__ void multiply_stage(Sums& sum, const unsigned char* left, const unsigned char* right,
                                               int row_warp, int column_warp) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 0; step < line / 16; ++step) {
    uint32 a[row_tiles][4];
#pragma unroll
    for (int i = 0; i < row_tiles; ++i)
      load_four(a[i], left + place((row_warp * row_tiles + i) * 16 + lane % 16, 2 * step + lane / 16));
    uint32 f[2][4];
    const auto load = [&](int b) {
      load_four(f[b / 2 % 2],
                right + place(column_warp * of_warp + b * 8 + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
    };
    load(0);
#pragma unroll
    for (int b = 0; b < blocks_of_8; b += 2) {
      if (b + 2 < blocks_of_8) load(b + 2);
      const auto& now = f[b / 2 % 2];
#pragma unroll
      for (int i = 0; i < row_tiles; ++i) {
        multiply(sum[i][b], a[i], {now[0], now[1]}, sum[i][b]);
        multiply(sum[i][b + 1], a[i], {now[2], now[3]}, sum[i][b + 1]);
      }
    }
  }
}

/// The sum, or the largest, over all warps that share a row, of numbers that lanes have of each of their rows.
template <bool Largest>
__device__ __forceinline__ void over_row(float (&x)[2 * row_tiles], float* between, int row_warp, int column_warp) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2 * row_tiles; ++r)
#pragma unroll
    for (int step = 1; step < 4; step *= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, x[r], step);
      x[r] = Largest ? fmaxf(x[r], other) : x[r] + other;
    }
  if constexpr (column_warps > 1) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2 * row_tiles; ++r)
      if (lane % 4 == 0) between[column_warp * rows + (row_warp * row_tiles * 2 + r) * 8 + lane / 4] = x[r];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2 * row_tiles; ++r) {
      x[r] = between[(row_warp * row_tiles * 2 + r) * 8 + lane / 4];
#pragma unroll
      for (int w = 1; w < column_warps; ++w) {
        const float other = between[w * rows + (row_warp * row_tiles * 2 + r) * 8 + lane / 4];
        x[r] = Largest ? fmaxf(x[r], other) : x[r] + other;
      }
    }
  }
}

/// Rounds a number that a projection is to have.
__device__ __forceinline__ float rounded(float y) {
  if constexpr (int8) return static_cast<float>(__float2int_rn(y));
  return lower_half(halves(y, 0));
}

/// Leaves the projection of a row: a lane has numbers that lie side by side (projection_axes.cuh), four at a time.
__device__ __forceinline__ void leave_projection(const ts::cuda::ProjectionRowsArguments& a, int64 row, int first,
                                                 const float (&h)[2 * blocks_of_8]) {
#pragma unroll
  for (int j = 0; j < 2 * blocks_of_8; j += 4) {
    if (first + j >= a.m) continue;
    const int64 at = row * a.m + first + j;
    if constexpr (int8) {
      uint32 four = 0;
#pragma unroll
      for (int e = 0; e < 4; ++e) four |= (static_cast<uint32>(static_cast<int>(h[j + e])) & 0xff) << (8 * e);
      *reinterpret_cast<uint32*>(static_cast<unsigned char*>(a.projections) + at) = four;
    } else {
      *reinterpret_cast<uint2*>(static_cast<unsigned short*>(a.projections) + at) = {halves(h[j], h[j + 1]),
                                                                                     halves(h[j + 2], h[j + 3])};
    }
  }
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once())
    projection_rows(ts::cuda::ProjectionRowsArguments a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  float* const norms = reinterpret_cast<float*>(memory + stages * policy.stage_bytes());
  float* const between = norms + rows;
  float* const shifts = between + column_warps * rows;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row_warp = warp / column_warps,
            column_warp = warp % column_warps;
  const float scale = static_cast<float>(a.scale);
  const int64 first = static_cast<int64>(blockIdx.x) * rows;
  const int stage_count = (a.d + line - 1) / line;
  for (int j = threadIdx.x; j < stage_count * line; j += threads)
    shifts[j] = j < a.d ? static_cast<float>(-a.shift[j] * a.scale) : 0.0f;
  __syncthreads();
  const auto left = [&](int stage) { return memory + stage % stages * policy.stage_bytes(); };
  const auto right = [&](int stage) { return left(stage) + rows_bytes; };
  float all[turns] = {};
  Sums sum = {};
  Loaded next;
  load_axes(right(0), a.axes, 0, stage_count);
  load_axes(right(1), a.axes, 1, stage_count);
  next.load(a.x, first, a.d, 0);
  next.leave(left(0), shifts, scale, 0, all);
  next.load(a.x, first, a.d, 1);
#pragma unroll 1
  for (int stage = 0; stage < stage_count; ++stage) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();  // the stage is there for all, and the one before, whose memory is filled now, done with
    load_axes(right(stage + 2), a.axes, stage + 2, stage_count);
    if (stage + 1 < stage_count) {
      next.leave(left(stage + 1), shifts, scale, stage + 1, all);
      next.load(a.x, first, a.d, stage + 2);
    }
    multiply_stage(sum, left(stage), right(stage), row_warp, column_warp);
  }
#pragma unroll
  for (int u = 0; u < turns; ++u) {
#pragma unroll
    for (int step = 1; step < pieces; step *= 2) all[u] += __shfl_xor_sync(0xffffffffu, all[u], step);
    if (threadIdx.x % pieces == 0) norms[threadIdx.x / pieces + u * (threads / pieces)] = sqrtf(all[u]);
  }
  __syncthreads();
  const auto row_of_tile = [&](int r) { return (row_warp * row_tiles * 2 + r) * 8 + lane / 4; };
  float per[2 * row_tiles], turned[2 * row_tiles] = {}, projection[2 * row_tiles] = {}, rounding[2 * row_tiles] = {};
#pragma unroll
  for (int r = 0; r < 2 * row_tiles; ++r) {
    per[r] = 0;
    for (int b = 0; b < blocks_of_8; ++b)
      for (int e = 0; e < 2; ++e) per[r] = fmaxf(per[r], fabsf(sum[r / 2][b][r % 2 * 2 + e]));
  }
  if constexpr (int8) over_row<true>(per, between, row_warp, column_warp);
#pragma unroll
  for (int r = 0; r < 2 * row_tiles; ++r) {
    per[r] = int8 ? per_of(per[r], norms[row_of_tile(r)]) : 1;
    float h[2 * blocks_of_8];
#pragma unroll
    for (int b = 0; b < blocks_of_8; ++b)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float y = sum[r / 2][b][r % 2 * 2 + e], number = rounded(y * per[r]), off = __fmaf_rn(y, per[r], -number);
        h[2 * b + e] = number;
        turned[r] = __fmaf_rn(y, y, turned[r]), projection[r] = __fmaf_rn(number, number, projection[r]);
        rounding[r] = __fmaf_rn(off, off, rounding[r]);
      }
    const int64 row = first + row_of_tile(r);
    if (row < a.x.count) leave_projection(a, row, column_warp * of_warp + lane % 4 * 2 * blocks_of_8, h);
  }
  over_row<false>(turned, between, row_warp, column_warp);
  over_row<false>(projection, between, row_warp, column_warp);
  over_row<false>(rounding, between, row_warp, column_warp);
  const float loss = static_cast<float>(a.d / 8 + 32) * 0x1p-23f, up = 1 + loss;
#pragma unroll
  for (int r = 0; r < 2 * row_tiles; ++r) {
    const int64 row = first + row_of_tile(r);
    if (column_warp != 0 || lane % 4 != 0 || row >= a.x.count) continue;
    const float norm = norms[row_of_tile(r)] * up + a.constant, error = (a.by_norm * norm + a.constant) * up;
    const float axes = fmaxf(sqrtf(turned[r]) * (1 - loss) - error, 0.0f);
    const float residual = fmaxf(norm * norm * up - axes * axes * a.held, 0.0f);
    a.norms[row] = {sqrtf(projection[r]) * up, (sqrtf(rounding[r]) + error * per[r]) * up,
                    sqrtf(residual) * per[r] * up, norm, per[r]};
  }
}
