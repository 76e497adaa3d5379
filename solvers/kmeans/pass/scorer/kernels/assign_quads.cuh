// Pieces that assign_scores.cuh and assign_slabs.cuh share: four neighbouring columns of a row, which a lane of a quad
// takes of every 16, with their float16 parts, and what becomes of scores. Before it: `steps`, `tiles`, `chunk`,
// `row_tiles`, `slots`, `words`, `warp_rows`, and what assign_best.cuh and assign_labels.cuh have.
#pragma once
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_load.cuh"

/// Tiles of a chunk; the last one may be shorter.
__device__ __forceinline__ int tiles_of(int number) { return min(tiles - number * chunk, chunk); }

/// All threads of the block set the shifts of all columns; a barrier must follow.
__device__ __forceinline__ void set_shifts(Shift* shifts, const ts::cuda::ScoresArguments& a) {
  for (int j = threadIdx.x; j < 16 * steps; j += policy.threads())
    shifts[j] = shift_of(j < policy.d ? a.shift[j] : 0, a.scale);
}

/// The row of slot s of the lane's quad, from the rows that lanes answer for, or row 0 behind the last: slot s of quad
/// g is the row of lane 4g + s % 4; of two slots, of lane 2g + s.
__device__ __forceinline__ int64 row_of_slot(const int64 (&mine)[words], int s) {
  const int lane = threadIdx.x % 32;
  const int64 row = __shfl_sync(everyone, mine[s / 4], row_tiles == 1 ? lane / 4 * 2 + s : (lane & 28) + s % 4);
  return row < 0 ? 0 : row;
}

/// Adds the scores with a tile's columns of the lane, which begin at `origin`.
__device__ __forceinline__ void add_tile(Best& found, const float (&score)[row_tiles][4], float2 origin, uint32 places,
                                         int tile) {
#pragma unroll
  for (int s = 0; s < slots; ++s)
    found.add(s, key_of(origin.x + score[s / 2][s % 2 * 2], places, 2 * tile),
              key_of(origin.y + score[s / 2][s % 2 * 2 + 1], places, 2 * tile + 1));
}

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
/// @param squared raised by the sum of their squares @param rest raised by that of the remainder of a single part
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
