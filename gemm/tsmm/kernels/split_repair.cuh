// What split numbers make NaN but their products do not: an infinity has no low part, and its product with a
// low part is NaN. Sums of X op(S) that came out as NaN are computed again, one product at a time.
#pragma once

#include "tallskinny/gemm/device/fragment.cuh"
#include "tallskinny/gemm/tsmm/kernels/small_factor.cuh"
#include "tallskinny/gemm/tsmm/kernels/warp_columns.cuh"

/// sum + part `part` of x s.
__device__ __forceinline__ float add_product(float sum, Result x, Result s, int part) {
  const float re = part_of(x, 0), im = part_of(x, 1), s_re = part_of(s, 0), s_im = part_of(s, 1);
  if (!is_complex) return madd(re, s_re, sum);
  return part ? madd(re, s_im, madd(im, s_re, sum)) : madd(re, s_re, madd(-im, s_im, sum));
}

/// Which of a lane's sums: that number `i` of [tile][part][block of columns][place in it].
struct SumNumber {
  int i;
  __device__ __forceinline__ int tile() const { return i / (4 * blocks_of_warp * parts); }
  __device__ __forceinline__ int part() const { return i / (4 * blocks_of_warp) % parts; }
  /// 0 and 1: in the upper half of the tile's rows; 2 and 3: in the lower one.
  __device__ __forceinline__ int place() const { return i % 4; }
  __device__ __forceinline__ int column(int column_warp, int t) const {
    return column_of(column_warp * blocks_of_warp + i / 4 % blocks_of_warp, 2 * t + place() % 2);
  }
};

/// If any sum of the lane is NaN, mend(sum, number) gets all of them in turn. (They pass by in registers, which
/// have no run-time indices.)
template <class Mend>
__device__ __forceinline__ void repair(float (&sums)[policy.tiles][parts][blocks_of_warp][4], const Mend& mend) {
  constexpr int count = policy.tiles * parts * blocks_of_warp * 4;
  float(&sum)[count] = reinterpret_cast<float(&)[count]>(sums);
  bool clean = true;
#pragma unroll
  for (int i = 0; i < count; ++i) clean = clean && sum[i] == sum[i];
  if (clean) return;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    float first = sum[0];
    mend(first, SumNumber{i});
#pragma unroll
    for (int j = 0; j + 1 < count; ++j) sum[j] = sum[j + 1];
    sum[count - 1] = first;
  }
}
/// Sums in float64 need none.
template <class Mend>
__device__ __forceinline__ void repair(double (&)[policy.tiles][parts][blocks_of_warp][4], const Mend&) {}
