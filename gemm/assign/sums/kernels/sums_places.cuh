// Gives the entries of each cluster a place of their own, where they lie together: the number of them becomes the place of the first.
// Clusters may lie in any order, so that a warp only has to take room for 32 of them. `taken` is the room of all in the end.
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

constexpr int threads = 256;

extern "C" __global__ void __launch_bounds__(threads)
    sums_places(int clusters, uint32* places, uint32* taken) {
  const int lane = threadIdx.x % 32, cluster = static_cast<int>(blockIdx.x) * threads + threadIdx.x;
  const uint32 own = cluster < clusters ? places[cluster] : 0;
  uint32 before = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const uint32 other = __shfl_up_sync(~0u, before, step);
    if (lane >= step) before += other;
  }
  uint32 base = 0;
  if (lane == 31 && before != 0) base = atomicAdd(taken, before);
  base = __shfl_sync(~0u, base, 31);
  if (cluster < clusters) places[cluster] = base + before - own;
}
