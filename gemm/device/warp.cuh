// Sums and the largest over the lanes of a warp.
#pragma once

/// The same for all lanes; added in a fixed order.
template <class T>
__device__ __forceinline__ T sum_of_warp(T x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
__device__ __forceinline__ float largest_of_warp(float x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}
