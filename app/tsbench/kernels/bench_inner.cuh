// Some entries of A^H B in about twice float64's precision (Ogita, Rump and Oishi 2005, Dot2), to check others
// against: sums over this block's rows of conj(a(k, i)) b(k, j) and of the sizes of these terms, for the entry
// (i, j) that the block is for. Plain on purpose.
#include "tallskinny/gemm/device/element.cuh"

struct Wide {
  double re, im;
};
template <class R>
__device__ __forceinline__ Wide to_double(R x) {
  return {static_cast<double>(x), 0};
}
template <class R>
__device__ __forceinline__ Wide to_double(Complex<R> x) {
  return {static_cast<double>(x.re), static_cast<double>(x.im)};
}

struct Sum {
  double high, low;
  __device__ __forceinline__ void add(double x) {
    const double s = __dadd_rn(high, x), part = __dsub_rn(s, high);
    low = __dadd_rn(low, __dadd_rn(__dsub_rn(high, __dsub_rn(s, part)), __dsub_rn(x, part)));
    high = s;
  }
  __device__ __forceinline__ void add_product(double x, double y) {
    const double product = __dmul_rn(x, y);
    low = __dadd_rn(low, __fma_rn(x, y, -product));
    add(product);
  }
};

struct Partial {
  Sum re, im;
  double size;
};

extern "C" __global__ void __launch_bounds__(256, 4)
    bench_inner(const Element* a, int64 a_row, int64 a_column, const Element* b, int64 b_row, int64 b_column,
                int64 n, const int64* entries, int count, Partial* partial) {
  const int entry = blockIdx.x % count;
  const Element* const left = a + entries[2 * entry] * a_column;
  const Element* const right = b + entries[2 * entry + 1] * b_column;
  const int64 blocks = gridDim.x / count, block = blockIdx.x / count;
  Partial mine = {};
  for (int64 k = block * 256 + threadIdx.x; k < n; k += blocks * 256) {
    const Wide x = to_double(widen(left[k * a_row])), y = to_double(widen(right[k * b_row]));
    mine.re.add_product(x.re, y.re);
    double size = fabs(x.re * y.re);
    if (is_complex) {
      mine.re.add_product(x.im, y.im);
      mine.im.add_product(x.re, y.im);
      mine.im.add_product(-x.im, y.re);
      size = (fabs(x.re) + fabs(x.im)) * (fabs(y.re) + fabs(y.im));
    }
    mine.size += size;
  }
  __shared__ Partial all[256];
  all[threadIdx.x] = mine;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    const Partial& other = all[threadIdx.x + half];
    Partial& ours = all[threadIdx.x];
    ours.re.add(other.re.high), ours.re.low += other.re.low;
    ours.im.add(other.im.high), ours.im.low += other.im.low;
    ours.size += other.size;
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = all[0];
}
