// Lists for each tile of rows the centroids that may be nearest for one of them, as projection_tiles.cuh marked them,
// in whole chunks. Lists are filled up with a centroid that must not be the nearest. A warp takes a tile.
#include "tallskinny/gemm/device/element.cuh"

constexpr unsigned everyone = 0xffffffffu;
constexpr int warps = policy.threads / 32, chunk = ts::cuda::projection_chunk;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    projection_lists(ts::cuda::ProjectionListsArguments a) {
  const int lane = threadIdx.x % 32, words = 4 * a.chunk_count;
  const int64 tiles = (a.parts + a.tile_parts - 1) / a.tile_parts;
  for (int64 tile = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32; tile < tiles;
       tile += static_cast<int64>(gridDim.x) * warps) {
    const int64 begin = tile * a.tile_parts, end = begin + a.tile_parts < a.parts ? begin + a.tile_parts : a.parts;
    int* const numbers = a.numbers + tile * a.stride;
    int count = 0;
    for (int first = 0; first < words; first += 32) {
      const int word = first + lane;
      uint32 signs = 0;
      if (word < words)
        for (int64 part = begin; part < end; ++part) signs |= a.signs[part * words + word];
      // Bit 2b + e of word t of a chunk is its column 8b + 2t + e.
      const int base = word / 4 * chunk + word % 4 * 2;
      uint32 real = 0;
      for (uint32 left = signs; left != 0; left &= left - 1) {
        const int bit = __ffs(left) - 1;
        if (base + bit / 2 * 8 + bit % 2 < a.centroids) real |= 1u << bit;
      }
      int before = __popc(real);
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(everyone, before, step);
        if (lane >= step) before += other;
      }
      int at = count + before - __popc(real);
      for (uint32 left = real; left != 0; left &= left - 1) {
        const int bit = __ffs(left) - 1;
        numbers[at++] = base + bit / 2 * 8 + bit % 2;
      }
      count += __shfl_sync(everyone, before, 31);
    }
    const int whole = (count + chunk - 1) / chunk;
    for (int at = count + lane; at < whole * chunk; at += 32) numbers[at] = a.centroids;
    if (lane != 0) continue;
    a.counts[tile] = whole;
    atomicAdd(a.kept, static_cast<uint64>(whole) * chunk * ts::cuda::projection_rows * (end - begin));
  }
}
