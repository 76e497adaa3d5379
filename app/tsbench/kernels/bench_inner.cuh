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

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bench_inner(const __grid_constant__ ts::bench::InnerArguments in) {
  const int entry = blockIdx.x % in.count;
  const auto* const entries = static_cast<const int64*>(in.entries);
  const Element* const left = static_cast<const Element*>(in.a) + entries[2 * entry] * in.a_column;
  const Element* const right = static_cast<const Element*>(in.b) + entries[2 * entry + 1] * in.b_column;
  const int64 blocks = gridDim.x / in.count, block = blockIdx.x / in.count;
  Partial mine = {};
  for (int64 k = block * policy.threads + threadIdx.x; k < in.n; k += blocks * policy.threads) {
    const Wide x = to_double(widen(left[k * in.a_row])), y = to_double(widen(right[k * in.b_row]));
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
  __shared__ Partial all[policy.threads];
  all[threadIdx.x] = mine;
  for (int half = policy.threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    const Partial& other = all[threadIdx.x + half];
    Partial& ours = all[threadIdx.x];
    ours.re.add(other.re.high), ours.re.low += other.re.low;
    ours.im.add(other.im.high), ours.im.low += other.im.low;
    ours.size += other.size;
  }
  if (threadIdx.x == 0) static_cast<Partial*>(in.partial)[blockIdx.x] = all[0];
}
