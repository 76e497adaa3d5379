// Numbers that round up or down to float16.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

__device__ __forceinline__ unsigned short half_up(float x) {
  unsigned short bits;
  asm("cvt.rp.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
/// `per` of integers of 8 bits, for coordinates that are at most `most`, of a vector that is no longer than `norm`.
__device__ __forceinline__ float per_of(float most, float norm) {
  using namespace ts::cuda;
  const float wanted = fminf(fminf(most_int8 / most, most_per), fminf(most_norm, most_squared / norm) / norm);
  unsigned short bits;
  asm("cvt.rm.f16.f32 %0, %1;" : "=h"(bits) : "f"(wanted));
  return widen(Half{bits});
}
