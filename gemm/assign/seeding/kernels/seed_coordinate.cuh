// The coordinates in which seeding measures distances: (x - shift) scale in TS_SCORE. TS_DIRECT 1: all in float32, which gives
// the same, since the shift has 24 bits and scale is a power of two, for rows without scales and numbers far from the ends of its
// range.
#pragma once
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

using Score = TS_SCORE;

template <class X>
__device__ __forceinline__ Score coordinate(X x, const double* row_scale, double shift, double scale) {
#if TS_DIRECT
  return __fmul_rn(__fsub_rn(widen(x), static_cast<float>(shift)), static_cast<float>(scale));
#else
  double wide = widen(x);
  if (row_scale != nullptr) wide = __dmul_rn(wide, *row_scale);
  return static_cast<Score>(__dmul_rn(__dsub_rn(wide, shift), scale));
#endif
}
