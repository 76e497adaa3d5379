// Four neighbouring columns of a row, which a lane of a quad takes of every 16, and their float16 parts. Before it:
// what assign_load.cuh and assign_halves.cuh have; policy.d, policy.steps and policy.parts.
#pragma once
#include "tallskinny/gemm/assign/scores/kernels/assign_halves.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_load.cuh"

/// The columns `column` .. + 3 of a row, zeros beyond the last.
__device__ __forceinline__ void load_four(const Element* row, int column, Element (&out)[4]) {
#pragma unroll
  for (int p = 0; p < 4; p += policy.vector) {
    Piece piece{};
    if (policy.d == 16 * policy.steps || column + p < policy.d)
      piece = *reinterpret_cast<const Piece*>(row + column + p);
#pragma unroll
    for (int e = 0; e < policy.vector; ++e) out[p + e] = piece.part[e];
  }
}

/// Float16 parts of four columns, shifted and scaled: two pairs of each part.
struct QuadParts {
  uint32 pair[policy.parts][2];
};
/// @param squared sum of their squares, added to. @param rest the same of what a single part leaves
__device__ __forceinline__ QuadParts parts_of(const Element (&raw)[4], int column, const Shift* shifts, double scale,
                                              float& squared, float& rest) {
  QuadParts parts;
  float v[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    v[e] = centred(raw[e], shifts[column + e], scale);
    if (policy.d != 16 * policy.steps && column + e >= policy.d) v[e] = 0;
    squared = __fmaf_rn(v[e], v[e], squared);
  }
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
    const uint32 high = halves(v[2 * pair], v[2 * pair + 1]);
    parts.pair[0][pair] = high;
    const float even = v[2 * pair] - lower_half(high), odd = v[2 * pair + 1] - upper_half(high);
    if constexpr (policy.parts == 2)
      parts.pair[policy.parts - 1][pair] = halves(even, odd);
    else
      rest = __fmaf_rn(even, even, __fmaf_rn(odd, odd, rest));
  }
  return parts;
}
