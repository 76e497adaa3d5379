// Blocks that run all at once wait for each other.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

/// Waits until all blocks have come here for the `time`-th time.
__device__ __forceinline__ void meet(uint32* arrivals, uint32 time) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrivals, 1u);
    uint32 arrived;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(arrivals) : "memory");
    while (arrived < time * gridDim.x);
  }
  __syncthreads();
}
