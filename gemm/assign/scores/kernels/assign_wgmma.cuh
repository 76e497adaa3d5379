// Tensor instructions of a whole warpgroup (sm_90a) for float16: c = left right (+ c) for 64 x columns x 16,
// both from shared memory as wgmma.cuh says of right: 16 bytes hold eight K of a row of left or a column of
// right. Or left from registers: a lane has (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8) of its warp's 16
// rows, and of each the next K.
#pragma once
#include "tallskinny/gemm/device/wgmma.cuh"

/// Waits until at most Groups of what was committed are under way.
template <int Groups>
__device__ __forceinline__ void wgmma_wait_but() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Groups) : "memory");
}

template <int Blocks>
struct WgmmaHalf {
  static __device__ __forceinline__ void multiply(float (&c)[4 * Blocks], uint64 left, uint64 right, int add) {
    Wgmma<Blocks>::template multiply_f16<0>(c, left, right, add);
  }
  static __device__ __forceinline__ void multiply(float (&c)[4 * Blocks], const uint32 (&left)[4], uint64 right,
                                                  int add) {
    Wgmma<Blocks>::multiply_f16(c, left, right, add);
  }
};
