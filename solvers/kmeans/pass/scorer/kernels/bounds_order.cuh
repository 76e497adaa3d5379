// Float32 numbers as integers in their order, for atomic operations.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

/// Maps the bits of a float32 number to an integer in its order, and back.
__device__ __forceinline__ int ordered_bits(int bits) { return bits ^ (bits >> 31 & 0x7fffffff); }
__device__ __forceinline__ int ordered(float x) { return ordered_bits(static_cast<int>(__float_as_uint(x))); }
__device__ __forceinline__ float from_ordered(int bits) {
  return __uint_as_float(static_cast<uint32>(ordered_bits(bits)));
}
