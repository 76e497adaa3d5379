// alpha and beta of Y = alpha X op(S) + beta Y.
//
//   TS_CORE; TS_ACCUMULATE: beta is not 0
#pragma once

#include "tallskinny/gemm/device/element.cuh"

/// What alpha, beta and sums are: float32 for sums in float32, else float64.
#if TS_CORE == 0
using Sum = double;
#else
using Sum = float;
#endif

/// alpha sum + beta y, where beta counts if TS_ACCUMULATE.
struct Scalars {
  Complex<Sum> alpha, beta;

  template <class R>
  __device__ __forceinline__ R apply(Sum re, Sum, const R& y) const {
    const Sum scaled = alpha.re * re;
    return static_cast<R>(TS_ACCUMULATE ? madd(beta.re, static_cast<Sum>(y), scaled) : scaled);
  }
  template <class R>
  __device__ __forceinline__ Complex<R> apply(Sum re, Sum im, const Complex<R>& y) const {
    Complex<Sum> sum = mul(alpha, Complex<Sum>{re, im});
    if (TS_ACCUMULATE) sum = madd(beta, Complex<Sum>{static_cast<Sum>(y.re), static_cast<Sum>(y.im)}, sum);
    return {static_cast<R>(sum.re), static_cast<R>(sum.im)};
  }
};
