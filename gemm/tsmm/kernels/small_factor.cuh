// Element (k, j) of op(S), the small factor of Y = alpha X op(S) + beta Y, widened to the type of the result.
#pragma once

#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/tsmm/policy.hpp"

template <class S>
struct SmallFactor {
  const S* data;
  int64 row_stride, column_stride;
  int conjugate;

  explicit __device__ __forceinline__ SmallFactor(const ts::cuda::SmallFactorArgument& a)
      : data(static_cast<const S*>(a.data)),
        row_stride(a.row_stride),
        column_stride(a.column_stride),
        conjugate(a.conjugate) {}

  __device__ __forceinline__ Result at(int64 k, int j) const {
    const Result x = widen(data[k * row_stride + j * column_stride]);
    return conjugate ? conj(x) : x;
  }
};

__device__ __forceinline__ Real part_of(Real x, int) { return x; }
__device__ __forceinline__ Real part_of(Complex<Real> x, int part) { return part ? x.im : x.re; }
