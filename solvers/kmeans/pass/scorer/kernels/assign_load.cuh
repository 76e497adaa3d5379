// Loads elements of rows, shifted and scaled.
#pragma once
#include "tallskinny/gemm/device/element.cuh"

/// Elements of one load; policy.vector of them, aligned to policy.alignment.
using Piece = Vector<Element, policy.vector, policy.alignment>;

/// (x - shift) scale from a column's shift, or where float32 is enough from -shift scale.
using Shift = Choose<policy.wide, double, float>::type;
static_assert(sizeof(Shift) == ts::cuda::shift_bytes(policy.wide));
__device__ __forceinline__ float centred(Element x, double shift, double scale) {
  return static_cast<float>((static_cast<double>(widen(x)) - shift) * scale);
}
__device__ __forceinline__ float centred(Element x, float shift, double scale) {
  return __fmaf_rn(static_cast<float>(widen(x)), static_cast<float>(scale), shift);
}
__device__ __forceinline__ Shift shift_of(double shift, double scale) {
  return static_cast<Shift>(policy.wide ? shift : -shift * scale);
}
