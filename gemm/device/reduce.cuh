// Sums over a block and over a grid, always in the same order.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

/// sums[c] += sums[c + across], sums[c + 2 across], ... for c < across: `count` groups of `across` sums become one.
/// All threads of the block call it; Sum has operator+=.
template <class Sum>
__device__ __forceinline__ void add_groups(Sum* sums, int across, int count, int threads) {
  __syncthreads();
  while (count > 1) {
    const int half = (count + 1) / 2, pairs = (count - half) * across;
    for (int e = threadIdx.x; e < pairs; e += threads) sums[e] += sums[e + half * across];
    count = half;
    __syncthreads();
  }
}

/// Whether this block is the last of `blocks` to get here; everything that the others wrote before is then
/// visible. The counter is zero again afterwards.
__device__ __forceinline__ bool last_block(unsigned* counter, int blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned ticket = atomicAdd(counter, 1u);
    last = ticket == static_cast<unsigned>(blocks) - 1;
    if (last) *counter = 0;
  }
  __syncthreads();
  __threadfence();
  return last;
}
