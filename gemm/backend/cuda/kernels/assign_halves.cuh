// Pairs of float16 numbers as tensor instructions want them.
#pragma once
#include "element.cuh"

/// Two float16 in a register, `low` in the lower half.
__device__ __forceinline__ uint32 halves(float low, float high) {
  uint32 both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
__device__ __forceinline__ float lower_half(uint32 both) {
  return widen(Half{static_cast<unsigned short>(both)});
}
__device__ __forceinline__ float upper_half(uint32 both) {
  return widen(Half{static_cast<unsigned short>(both >> 16)});
}
