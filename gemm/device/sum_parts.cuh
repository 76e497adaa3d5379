// C = alpha (the sum of all parts, in their order) + beta C, with C rows x columns; beta = 0 never reads. The
// numbers of a part are the products as they lie row by row, the imaginary ones `imaginary` later.
//   TS_TYPE   of C
// `mirror`, unless null, is where the (conjugate) transpose of C goes too. `triangle`: what is on and above
// the diagonal is computed and mirrored.
#include "tallskinny/gemm/device/cluster.cuh"

__device__ __forceinline__ Complex<double> as_pair(Real x) {
  return {x, 0};
}
__device__ __forceinline__ Complex<double> as_pair(Complex<Real> x) {
  return {x.re, x.im};
}
__device__ __forceinline__ void store(Real* out, Complex<double> x) {
  *out = static_cast<Real>(x.re);
}
__device__ __forceinline__ void store(Complex<Real>* out, Complex<double> x) {
  *out = {static_cast<Real>(x.re), static_cast<Real>(x.im)};
}
/// A real factor leaves infinities what they are.
__device__ __forceinline__ Complex<double> times(Complex<double> x, Complex<double> y) {
  return x.im == 0 ? Complex<double>{x.re * y.re, x.re * y.im} : mul(x, y);
}

extern "C" __global__ void __launch_bounds__(256)
    sum_parts(const double* parts, int64 size, int64 count, int64 imaginary, Result* c, int64 row_stride,
              int64 column_stride, Result* mirror, int64 rows, int64 columns, Complex<double> alpha,
              Complex<double> beta, int adjoint, int triangle) {
  const int64 e = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x, i = e / columns, j = e % columns;
  if (e >= rows * columns || (triangle && i > j)) return;
  let_next_kernel_start();
  wait_for_earlier_kernels();
  Complex<double> sum = {0, 0};
#pragma unroll 8
  for (int64 part = 0; part < count; ++part) {
    const double* const from = parts + part * size + e;
    sum.re += __ldcg(from);
    if (is_complex) sum.im += __ldcg(from + imaginary);
  }
  Result* const out = c + i * row_stride + j * column_stride;
  Complex<double> value = times(alpha, sum);
  if (!is_zero(beta)) {
    const Complex<double> old = times(beta, as_pair(*out));
    value = {value.re + old.re, value.im + old.im};
  }
  store(out, value);
  const Result turned = adjoint ? conj(*out) : *out;
  if (mirror) mirror[j * row_stride + i * column_stride] = turned;
  if (triangle && i < j) c[j * row_stride + i * column_stride] = turned;
}
