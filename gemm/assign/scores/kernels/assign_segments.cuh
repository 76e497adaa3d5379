// Rows as warpgroups multiply them, eight columns at a time, and what instructions leave. Before it:
// `blocks_of_8` of a chunk.
#pragma once
#include "tallskinny/gemm/assign/scores/kernels/assign_halves.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_load.cuh"

/// Eight columns of a row.
__device__ __forceinline__ void load_segment(Element (&raw)[8], const Element* from, int segment) {
#pragma unroll
  for (int p = 0; p < 8; p += policy.vector) {
    const int column = 8 * segment + p;
    Piece piece{};
    if (column < policy.d) piece = *reinterpret_cast<const Piece*>(from + column);
#pragma unroll
    for (int e = 0; e < policy.vector; ++e) raw[p + e] = piece.part[e];
  }
}
/// Their parts, and what they add to the squares of the row and of what parts leave of it.
__device__ __forceinline__ void split_segment(const Element (&raw)[8], int segment, const Shift* shifts, double scale,
                                              float& squared, float& rest, uint32 (&high)[4], uint32 (&low)[4]) {
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    float v[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int j = 8 * segment + 2 * pair + e;
      v[e] = j < policy.d ? centred(raw[2 * pair + e], shifts[j], scale) : 0.0f;
      squared = __fmaf_rn(v[e], v[e], squared);
    }
    high[pair] = halves(v[0], v[1]);
    const float even = v[0] - lower_half(high[pair]), odd = v[1] - upper_half(high[pair]);
    if (policy.parts == 2)
      low[pair] = halves(even, odd);
    else
      rest = __fmaf_rn(even, even, __fmaf_rn(odd, odd, rest));
  }
}

/// What instructions leave is not read before here.
__device__ __forceinline__ void keep(float (&product)[4 * blocks_of_8]) {
#pragma unroll
  for (int i = 0; i < 4 * blocks_of_8; ++i) asm volatile("" : "+f"(product[i])::"memory");
}
