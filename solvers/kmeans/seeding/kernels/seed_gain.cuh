// The decrease of a row's w D^2, in whole numbers of a unit, with the bits of PotentialUnit.
#pragma once
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/warp.cuh"

__device__ __forceinline__ int64 gain_of(const ts::cuda::SeedBatchArguments& a, double unit, int row, double after) {
  const double gain = __dsub_rn(a.squared[row], after), weight = a.weights == nullptr ? 1.0 : a.weights[row];
  return static_cast<int64>(__dmul_rn(__dmul_rn(weight, gain > 0 ? gain : 0), unit));
}
