// The coordinates in which seeding measures distances: (x - shift) scale, as policy.coordinates says.
#pragma once
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

using Score = Choose<policy.wide(), double, float>::type;

template <class X>
__device__ __forceinline__ Score coordinate(X x, const double* row_scale, double shift, double scale) {
  if constexpr (policy.coordinates == ts::cuda::Coordinates::direct) {
    return __fmul_rn(__fsub_rn(widen(x), static_cast<float>(shift)), static_cast<float>(scale));
  } else {
    double wide = widen(x);
    if (row_scale != nullptr) wide = __dmul_rn(wide, *row_scale);
    return static_cast<Score>(__dmul_rn(__dsub_rn(wide, shift), scale));
  }
}
