// Numbers that round up to float16.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

__device__ __forceinline__ unsigned short half_up(float x) {
  unsigned short bits;
  asm("cvt.rp.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
