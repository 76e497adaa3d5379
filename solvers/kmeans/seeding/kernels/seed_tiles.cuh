// The signs that projection_tiles.cuh leaves of each row, by tensor instructions that all GPUs have: products of
// halves, whose last step adds and takes away what seed_ahead.cuh says. A warp has 32 rows, whose projections it reads
// once for each chunk of candidates; slabs of candidates come through two stages that all warps share.
#include "tallskinny/gemm/device/pipeline.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"

constexpr int chunk = ts::cuda::projection_chunk, blocks_of_8 = chunk / 8, slab = policy.tile_steps, row_tiles = 2;
constexpr int threads = policy.tile_threads, step_bytes = 32 * chunk;
using Arguments = ts::cuda::SeedBatchArguments;

/// Fragments of a slab of a warp's rows.
struct Operand {
  uint32 part[slab][row_tiles][4] = {};

  __device__ __forceinline__ void load(const Arguments& a, int64 first, int step, int steps) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int s = 0; s < slab; ++s)
#pragma unroll
      for (int half = 0; half < 2 * row_tiles; ++half) {
        if (step + s >= steps) continue;
        const int64 i = first + 8 * half + lane / 4, row = i < a.x.count ? i : a.x.count - 1;
        const uint32* const from =
            (step + s + 1 < steps ? static_cast<const uint32*>(a.halves) + row * (a.columns / 2) + 8 * (step + s)
                                  : static_cast<const uint32*>(a.limits) + row * (ts::cuda::limit_columns / 2)) +
            lane % 4;
        part[s][half / 2][half % 2] = from[0], part[s][half / 2][half % 2 + 2] = from[4];
      }
  }
};

/// All threads fetch a slab of candidates; asynchronous. Those of a chunk lie one after the other.
__device__ __forceinline__ void fetch(const Arguments& a, unsigned char* to, int c, int step, int steps) {
  const unsigned char* const from =
      static_cast<const unsigned char*>(a.chunks) + (static_cast<int64>(c) * steps + step) * step_bytes;
  const int bytes = (steps - step < slab ? steps - step : slab) * step_bytes;
  for (int at = 16 * threadIdx.x; at < bytes; at += 16 * threads) copy_async<16>(to + at, from + at, 16);
}

/// Bit 2b + e of word t of a chunk is its column 8b + 2t + e.
__device__ __forceinline__ void leave(const Arguments& a, const float (&sum)[row_tiles][blocks_of_8][4], int64 first,
                                      int c) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < 2 * row_tiles; ++half) {
    uint32 word = 0;
#pragma unroll
    for (int b = blocks_of_8 - 1; b >= 0; --b)
#pragma unroll
      for (int e = 1; e >= 0; --e) word = __funnelshift_l(__float_as_uint(sum[half / 2][b][half % 2 * 2 + e]), word, 1);
    const int64 row = first + 8 * half + lane / 4;
    if (row < a.x.count) a.signs[(c * 4 + lane % 4) * a.x.count + row] = word;
  }
}

extern "C" __global__ void __launch_bounds__(policy.tile_threads, 1) seed_tiles(Arguments a) {
  __shared__ __align__(16) unsigned char stages[2][slab * step_bytes];
  const int lane = threadIdx.x % 32, steps = a.columns / 16 + 1, chunks = a.padded / chunk;
  for (int64 block = static_cast<int64>(blockIdx.x) * policy.tile_rows; block < a.x.count;
       block += static_cast<int64>(gridDim.x) * policy.tile_rows) {
    const int64 first = block + threadIdx.x / 32 * (16 * row_tiles);
    int stage = 0;
    Operand now, next;
    fetch(a, stages[0], 0, 0, steps);
    now.load(a, first, 0, steps);
#pragma unroll 1
    for (int c = 0; c < chunks; ++c) {
      float sum[row_tiles][blocks_of_8][4] = {};
#pragma unroll 1
      for (int step = 0; step < steps; step += slab, stage ^= 1) {
        const bool last = step + slab >= steps;
        wait_for_copies();
        __syncthreads();
        if (!last || c + 1 < chunks) {
          fetch(a, stages[stage ^ 1], last ? c + 1 : c, last ? 0 : step + slab, steps);
          next.load(a, first, last ? 0 : step + slab, steps);
        }
        const uint32* const right = reinterpret_cast<const uint32*>(stages[stage]) + lane;
#pragma unroll
        for (int s = 0; s < slab; ++s) {
          if (step + s >= steps) break;
#pragma unroll
          for (int b = 0; b < blocks_of_8; ++b) {
            const uint32* const of = right + s * (step_bytes / 4) + 32 * b;
            const uint2 both{of[0], of[4 * chunk]};
#pragma unroll
            for (int r = 0; r < row_tiles; ++r) multiply(sum[r][b], now.part[s][r], both, sum[r][b]);
          }
        }
        now = next;
      }
      leave(a, sum, first, c);
    }
    __syncthreads();
  }
}
