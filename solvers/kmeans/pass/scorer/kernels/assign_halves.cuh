// Pairs of float16 numbers as tensor instructions want them, and the instruction of a warp.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

/// Two float16 in a register, `low` in the lower half.
__device__ __forceinline__ uint32 halves(float low, float high) {
  uint32 both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
__device__ __forceinline__ float lower_half(uint32 both) { return widen(Half{static_cast<unsigned short>(both)}); }
__device__ __forceinline__ float upper_half(uint32 both) {
  return widen(Half{static_cast<unsigned short>(both >> 16)});
}

/// d = a b + c
__device__ __forceinline__ void multiply(float (&d)[4], const uint32 (&a)[4], uint2 b, const float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
