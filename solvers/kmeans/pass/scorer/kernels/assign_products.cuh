// Products of raw rows and tiles of 8 centroids, and the two least of their keys. Define before: the names that
// assign_raw.cuh needs, `tiles`, `planes`, `products`, `group`.
#pragma once
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_bounds.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_keys.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_raw.cuh"

/// The two least keys of a lane's columns for a slot.
struct Two {
  uint32 best, second;
};
__device__ __forceinline__ Two select(bool first, Two a, Two b) {
  return {first ? a.best : b.best, first ? a.second : b.second};
}
__device__ __forceinline__ Two merge(Two mine, Two sent, int bit) {
  const uint32 best = __shfl_xor_sync(everyone, sent.best, bit), second = __shfl_xor_sync(everyone, sent.second, bit);
  return {min(mine.best, best), __vimin3_u32(mine.second, second, max(mine.best, best))};
}
__device__ __forceinline__ uint32 merge(uint32 mine, uint32 sent, int bit) {
  return add_halves(mine, __shfl_xor_sync(everyone, sent, bit));
}
__device__ __forceinline__ uint32 select(bool first, uint32 a, uint32 b) { return first ? a : b; }
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_collect.cuh"

/// The two least of these, unless they are the first, and of keys, all of which differ.
template <int Keys>
__device__ __forceinline__ void take_group(const uint32 (&key)[Keys], bool first, Two& found) {
  if constexpr (policy.group != 0) return take_all(key, first, found.best, found.second);
  if (first) found = {min(key[0], key[1]), max(key[0], key[1])};
#pragma unroll
  for (int i = 0; i < Keys; i += 2)
    if (i > 0 || !first) take(key[i], key[i + 1], found.best, found.second);
}

/// The columns of B that a lane has of a tile, for one of its products: steps of upper parts, then of lower ones.
__device__ __forceinline__ uint2 factor_of(const uint2* fragments, int tile, int product, int lane) {
  constexpr int plane = tiles * steps * 32;
  if (quads == 4) return fragments[product / steps * plane + (tile * steps + product % steps) * 32 + lane];
  const int copy = lane % 4 / quads;
  return copy < planes ? fragments[copy * plane + tile * 32 + lane - copy * quads] : uint2{0, 0};
}

/// score = the scores of all tiles of rows and a tile of 8 centroids, of which a lane has these columns, and
/// whose sums begin with `begins`, or zero where rows have lower parts.
__device__ __forceinline__ void score_tile(float (&score)[row_tiles][4], const Operand& rows,
                                           const uint2 (&b)[products], const float (&begins)[row_tiles][4]) {
  constexpr float zero[4] = {};
  if (low_rows) {  // first what is small, since instructions truncate
#pragma unroll
    for (int product = 0; product < products; ++product)
#pragma unroll
      for (int r = 0; r < row_tiles; ++r)
        if (product == 0)
          multiply(score[r], rows.low[r][0], b[0], zero);
        else if (product < steps)
          multiply(score[r], rows.low[r][product % steps], b[product], score[r]);
        else
          multiply(score[r], rows.high[r][product % steps], b[product], score[r]);
  }
#pragma unroll
  for (int product = 0; product < (low_rows ? steps : products); ++product)
#pragma unroll
    for (int r = 0; r < row_tiles; ++r)
      if (product == 0 && !low_rows)
        multiply(score[r], rows.high[r][0], b[0], begins[r]);
      else
        multiply(score[r], rows.high[r][product % steps], b[product], score[r]);
  if (low_rows)
#pragma unroll
    for (int i = 0; i < 4 * row_tiles; ++i) score[i / 4][i % 4] += begins[i / 4][i % 4];
}

/// The norm of a row, rounded up, from the sum of its squares in two halves. Each sum of halves lost at most
/// one part in 2^11, or 2^-25; copies count more than once.
__device__ __forceinline__ float norm_of_halves(uint32 sums_of_squares) {
  const float squared = (lower_half(sums_of_squares) + upper_half(sums_of_squares)) * (1 + (steps + 2) * 0x1p-9f) +
                        (steps + 2) * 0x1p-20f;
  float norm;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(norm) : "f"(squared));
  return norm * 1.0001f;
}
