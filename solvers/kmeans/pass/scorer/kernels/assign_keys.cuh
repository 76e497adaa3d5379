// Scores as integers with the numbers of centroids, and the least of them.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

__device__ __forceinline__ constexpr int bits_for(int numbers) {
  int bits = 0;
  while ((1 << bits) < numbers) ++bits;
  return bits;
}

/// A score that lies, with all its errors, within one binade of float32 (its origin does), as an integer in its
/// order whose lowest bits are a number below `places`, a power of two that the compiler must not know:
/// multiply-adds do not bind, shifts would.
__device__ __forceinline__ uint32 key_of(float score, uint32 places, uint32 number) {
  return __float_as_uint(score) * places + number;
}
/// The two least of these and two more.
__device__ __forceinline__ void take(uint32 a, uint32 b, uint32& best, uint32& second) {
  const uint32 less = min(a, b);
  second = __vimin3_u32(second, max(a, b), max(best, less));
  best = min(best, less);
}
/// The three least of these and two more.
__device__ __forceinline__ void take(uint32 a, uint32 b, uint32& best, uint32& second, uint32& third) {
  const uint32 less = min(a, b), more = max(a, b);
  third = __vimin3_u32(third, max(second, less), max(best, more));
  second = __vimin3_u32(second, more, max(best, less));
  best = min(best, less);
}

/// The two least of these, unless keys are the first, and of an even number of keys, all of which differ:
/// behind the least itself, what follows it by least.
template <int Keys>
__device__ __forceinline__ void take_all(const uint32 (&key)[Keys], bool first, uint32& best, uint32& second) {
  uint32 least = first ? min(key[0], key[1]) : __vimin3_u32(best, key[0], key[1]);
#pragma unroll
  for (int i = 2; i < Keys; i += 2) least = __vimin3_u32(least, key[i], key[i + 1]);
  const uint32 before = ~least;  // - least - 1, by which the least itself becomes the largest
  uint32 next = first ? key[0] + before : __viaddmin_u32(key[0], before, __viaddmin_u32(best, before, second + before));
#pragma unroll
  for (int i = 1; i < Keys; ++i) next = __viaddmin_u32(key[i], before, next);
  best = least, second = next - before;
}
