// Gives the entries of each cluster a place of their own, where they lie together: the number of them becomes
// the place of the first. Clusters may lie in any order, so that a warp only has to take places for 32 of them.
// `taken` is how many all have in the end.
#include "tallskinny/gemm/device/element.cuh"

constexpr int threads = policy.threads;

extern "C" __global__ void __launch_bounds__(threads) sums_places(ts::cuda::SumsPlacesArguments a) {
  const auto& [clusters, places, taken] = a;
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
