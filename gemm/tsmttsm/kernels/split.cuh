// A float32 as two numbers that tensor instructions of TF32 take.
#pragma once

#include "tallskinny/gemm/device/element.cuh"

/// A float32 as two of 11 bits. The lower bits of `low` are ignored by the instruction.
__device__ __forceinline__ void split(uint32 x, uint32& high, uint32& low) {
  high = (x + 0x1000u) & 0xffffe000u;
  low = __float_as_uint(__uint_as_float(x) - __uint_as_float(high));
}
