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
struct WgmmaHalf;
#define TS_WGMMA_HALF(BLOCKS, COLUMNS, N0, N1, N2, N3, N4, N5)                                                     \
  template <>                                                                                                      \
  struct WgmmaHalf<BLOCKS> {                                                                                       \
    static __device__ __forceinline__ void multiply(float (&c)[4 * BLOCKS], uint64 left, uint64 right, int add) {  \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #N2 ", 0; wgmma.mma_async.sync.aligned.m64n" #COLUMNS        \
                   "k16.f32.f16.f16 {" TS_REGISTERS_##BLOCKS "}, %" #N0 ", %" #N1 ", p, 1, 1, 0, 0; }"             \
                   : TS_OPERANDS_##BLOCKS                                                                          \
                   : "l"(left), "l"(right), "r"(add));                                                             \
    }                                                                                                              \
    static __device__ __forceinline__ void multiply(float (&c)[4 * BLOCKS], const uint32 (&left)[4], uint64 right, \
                                                    int add) {                                                     \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #N5 ", 0; wgmma.mma_async.sync.aligned.m64n" #COLUMNS        \
                   "k16.f32.f16.f16 {" TS_REGISTERS_##BLOCKS "}, {%" #N0 ", %" #N1 ", %" #N2 ", %" #N3 "}, %" #N4  \
                                                             ", p, 1, 1, 0; }"                                     \
                   : TS_OPERANDS_##BLOCKS                                                                          \
                   : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right), "r"(add));                \
    }                                                                                                              \
  };
TS_WGMMA_HALF(8, 64, 32, 33, 34, 35, 36, 37)
TS_WGMMA_HALF(16, 128, 64, 65, 66, 67, 68, 69)
#undef TS_WGMMA_HALF
