// Lists for each tile of rows the centroids that may be nearest for one of them, in whole chunks. Lists are filled up
// with a centroid that must not be the nearest. A warp takes a tile.
//
// For a row x, u(x) is at least its distance to the nearest centroid; for a tile and a centroid c, b is at most
// ||x - c|| - u(x) for all rows of the tile. When centroids have moved, u'(x) = nearest(x) + move of its centroid is
// such a number, too, and so is b' = b - move of c - max(u'(x) - u(x)). Where it is above 0, c is the nearest of no
// row. The bounds of listed centroids come anew from their scores (assign_groups.cuh), which lower them from infinity.
#include "tallskinny/gemm/device/warp.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/bounds_order.cuh"

constexpr unsigned everyone = 0xffffffffu;
constexpr int warps = policy.threads / 32, chunk = ts::cuda::projection_chunk;

/// The largest growth of u among the tile's rows, which get the new ones; the largest u where there are no others.
__device__ __forceinline__ float take_rows(const ts::cuda::BoundsListsArguments& a, int64 first) {
  float most = -3e38f;
  for (int64 at = first + threadIdx.x % 32; at < first + a.tile_rows && at < a.rows; at += 32) {
    const unsigned row = a.order[at];
    if (a.first) a.list[at] = row;
    const float now = __fadd_ru(a.nearest[at], a.moves[a.labels[row]]);
    most = fmaxf(most, a.first ? now : __fsub_ru(now, a.upper[at]));
    a.upper[at] = now;
  }
  return largest_of_warp(most);
}

/// The first bounds, with lists that are there already.
__device__ __forceinline__ void begin_with_given(const ts::cuda::BoundsListsArguments& a, int64 tile, float upper) {
  const int lane = threadIdx.x % 32, infinite = ordered_bits(0x7f800000);
  int* const bounds = a.bounds + tile * a.stride;
  const int* const given = a.given + tile * a.stride;
  const int beyond = ordered(__fsub_rd(a.margin, 0x1p-20f * upper));  // of which distances to own centroids are rounded
  for (int c = lane; c < a.padded; c += 32) bounds[c] = beyond;
  __syncwarp();
  for (int at = lane; at < a.given_counts[tile] * chunk; at += 32)
    if (given[at] != a.centroids) bounds[given[at]] = infinite;
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bounds_lists(ts::cuda::BoundsListsArguments a) {
  constexpr int at_once = 4;
  const int lane = threadIdx.x % 32, infinite = ordered_bits(0x7f800000);
  const int64 tiles = (a.rows + a.tile_rows - 1) / a.tile_rows;
  if (blockIdx.x == 0 && threadIdx.x == 0) *a.listed = static_cast<uint64>(a.rows);
  for (int64 tile = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32; tile < tiles;
       tile += static_cast<int64>(gridDim.x) * warps) {
    const float rise = take_rows(a, tile * a.tile_rows);
    if (a.first && a.given != nullptr) {
      begin_with_given(a, tile, rise);
      continue;
    }
    int* const bounds = a.bounds + tile * a.stride;
    int* const numbers = a.numbers + tile * a.stride;
    int count = 0;
    for (int begin = 0; begin < a.padded; begin += 32 * at_once) {
      int old[at_once];
      float move[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const int c = begin + 32 * i + lane;
        old[i] = a.first ? infinite : bounds[c];
        move[i] = c < a.centroids ? a.moves[c] : 0;
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const int c = begin + 32 * i + lane;
        const float bound = __fsub_rd(from_ordered(old[i]), __fadd_ru(move[i], rise));
        const bool listed = c < a.centroids && (a.first || !(bound > 0));
        const uint32 all = __ballot_sync(everyone, listed);
        if (listed) numbers[count + __popc(all & ((1u << lane) - 1))] = c;
        bounds[c] = listed ? infinite : ordered(bound);
        count += __popc(all);
      }
    }
    const int whole = (count + chunk - 1) / chunk;
    for (int at = count + lane; at < whole * chunk; at += 32) numbers[at] = a.centroids;
    if (lane != 0) continue;
    a.counts[tile] = whole;
    const int64 rows = a.rows - tile * a.tile_rows < a.tile_rows ? a.rows - tile * a.tile_rows : a.tile_rows;
    atomicAdd(a.kept, static_cast<uint64>(whole * chunk) * static_cast<uint64>(rows));
  }
}
