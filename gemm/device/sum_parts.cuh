// C = alpha (the sum of all parts, in their order) + beta C; beta = 0 never reads. The numbers of a part are the
// products as they lie row by row.
#include "tallskinny/gemm/device/cluster.cuh"

__device__ __forceinline__ Complex<double> as_pair(Real x) { return {x, 0}; }
__device__ __forceinline__ Complex<double> as_pair(Complex<Real> x) { return {x.re, x.im}; }
__device__ __forceinline__ void store(Real* out, Complex<double> x) { *out = static_cast<Real>(x.re); }
__device__ __forceinline__ void store(Complex<Real>* out, Complex<double> x) {
  *out = {static_cast<Real>(x.re), static_cast<Real>(x.im)};
}
/// A real factor leaves infinities what they are.
__device__ __forceinline__ Complex<double> times(Complex<double> x, Complex<double> y) {
  return x.im == 0 ? Complex<double>{x.re * y.re, x.re * y.im} : mul(x, y);
}

extern "C" __global__ void __launch_bounds__(policy.threads)
    sum_parts(const __grid_constant__ ts::cuda::SumPartsArguments<Result> a) {
  const int64 e = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x, i = e / a.columns, j = e % a.columns;
  if (e >= a.rows * a.columns || (a.triangle && i > j)) return;
  let_next_kernel_start();
  wait_for_earlier_kernels();
  const Complex<double> alpha = {a.alpha.re, a.alpha.im}, beta = {a.beta.re, a.beta.im};
  Complex<double> sum = {0, 0};
#pragma unroll 8
  for (int64 part = 0; part < a.count; ++part) {
    if constexpr (policy.of_results) {
      const Complex<double> x = as_pair(static_cast<const Result*>(a.parts)[part * a.size + e]);
      sum.re += x.re, sum.im += x.im;
    } else {
      const double* const from = static_cast<const double*>(a.parts) + part * a.size + e;
      sum.re += __ldcg(from);
      if (is_complex) sum.im += __ldcg(from + a.imaginary);
    }
  }
  if (policy.of_results && a.triangle && a.adjoint && i == j) sum.im = 0;  // x^H x is real
  Result* const out = a.c + i * a.row_stride + j * a.column_stride;
  Complex<double> value = times(alpha, sum);
  if (!is_zero(beta)) {
    const Complex<double> old = times(beta, as_pair(*out));
    value = {value.re + old.re, value.im + old.im};
  }
  store(out, value);
  const Result turned = a.adjoint ? conj(*out) : *out;
  if (a.mirror) a.mirror[j * a.row_stride + i * a.column_stride] = turned;
  if (a.triangle && i < j) a.c[j * a.row_stride + i * a.column_stride] = turned;
}
