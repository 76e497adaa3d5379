// Loads raw rows: four columns of each step in one load, which become float16 numbers. Define before: `steps`, `slots`,
// `words`, `warp_rows`, `quads`, `halves_already`.
#pragma once
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"

/// a a + c of two halves each.
__device__ __forceinline__ uint32 square_add(uint32 a, uint32 c) {
  uint32 d;
  asm("fma.rn.f16x2 %0, %1, %1, %2;" : "=r"(d) : "r"(a), "r"(c));
  return d;
}
__device__ __forceinline__ uint32 add_halves(uint32 a, uint32 b) {
  uint32 d;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
/// Four elements of a row, and as float16 numbers.
using Four = Choose<halves_already, uint2, float4>::type;
__device__ __forceinline__ uint2 halves_of(uint2 x) { return x; }
__device__ __forceinline__ uint2 halves_of(float4 x) { return {halves(x.x, x.y), halves(x.z, x.w)}; }
/// The remainder of elements after their float16 parts are taken away.
__device__ __forceinline__ uint2 rest_of(uint2, uint2) { return {}; }
__device__ __forceinline__ uint2 rest_of(float4 x, uint2 both) {
  return {halves(x.x - lower_half(both.x), x.y - upper_half(both.x)),
          halves(x.z - lower_half(both.y), x.w - upper_half(both.y))};
}

/// The four columns of each step that belong to the lane, of its slots; and the labels of its rows so far.
struct Raw {
  Four part[steps][slots];
  int before[words];

  template <bool Whole>
  __device__ __forceinline__ void load(const Rows& x, const int* labels, int first, int count) {
    const int lane = threadIdx.x % 32, column = lane % quads * 4;
    const int64 stride = policy.packed ? policy.d : x.row_stride;
    const Element* const from = static_cast<const Element*>(x.data) + (first + (lane & 28)) * stride + column;
#pragma unroll
    for (int w = 0; w < words; ++w)
      before[w] = Whole || first + 32 * w + lane < count ? labels[first + 32 * w + lane] : -1;
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      int64 at = s / 4 * 32 + s % 4;
      if (!Whole && first + (lane & 28) + at >= count) at = count - 1 - first - (lane & 28);
#pragma unroll
      for (int step = 0; step < steps; ++step)
        part[step][s] = policy.d % (4 * quads) == 0 || 16 * step + column < policy.d
                            ? *reinterpret_cast<const Four*>(from + at * stride + 16 * step)
                            : Four{};
    }
  }
  __device__ __forceinline__ void load(const Rows& x, const int* labels, int first, int count) {
    if (first + warp_rows <= count)
      load<true>(x, labels, first, count);
    else if (first < count)
      load<false>(x, labels, first, count);
  }
};

/// A warp's rows as fragments, what float16 numbers leave of them, and the squares of a lane's columns.
struct Operand {
  uint32 high[row_tiles][steps][4], low[row_tiles][steps][4];
  uint32 squared[slots] = {};

  __device__ __forceinline__ explicit Operand(const Raw& raw) {
#pragma unroll
    for (int s = 0; s < slots; ++s)
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        const uint2 both = halves_of(raw.part[step][s]);
        high[s / 2][step][s % 2] = both.x, high[s / 2][step][2 + s % 2] = both.y;
        if (low_rows) {
          const uint2 rest = rest_of(raw.part[step][s], both);
          low[s / 2][step][s % 2] = rest.x, low[s / 2][step][2 + s % 2] = rest.y;
        }
        if (by_norms) squared[s] = square_add(both.y, square_add(both.x, squared[s]));
      }
  }
};
