// alpha and beta of Y = alpha X op(S) + beta Y.
#pragma once

#include "tallskinny/gemm/device/fragment.cuh"

/// What alpha, beta and sums are: float32 for sums in float32, else float64.
using Sum = Accumulator;

/// alpha sum + beta y, where beta counts if Y is read.
struct Scalars {
  Complex<Sum> alpha, beta;

  __device__ __forceinline__ Scalars(const ts::cuda::ScalarArgument& a, const ts::cuda::ScalarArgument& b)
      : alpha{static_cast<Sum>(a.re), static_cast<Sum>(a.im)}, beta{static_cast<Sum>(b.re), static_cast<Sum>(b.im)} {}

  template <class R>
  __device__ __forceinline__ R apply(Sum re, Sum, const R& y) const {
    const Sum scaled = alpha.re * re;
    return static_cast<R>(policy.accumulate ? madd(beta.re, static_cast<Sum>(y), scaled) : scaled);
  }
  template <class R>
  __device__ __forceinline__ Complex<R> apply(Sum re, Sum im, const Complex<R>& y) const {
    Complex<Sum> sum = mul(alpha, Complex<Sum>{re, im});
    if (policy.accumulate) sum = madd(beta, Complex<Sum>{static_cast<Sum>(y.re), static_cast<Sum>(y.im)}, sum);
    return {static_cast<R>(sum.re), static_cast<R>(sum.im)};
  }
};
