// R^-1 of a Gram matrix G = R^T R, by one block in shared memory; a product with it makes columns orthonormal. First G
// = L D L^T, a column at a time, as rows of the upper triangle, L^T D. Then R = D^-1/2 (L^T D), and R^-1 by rows from
// the last, each of which is taken into all rows above it when it is known. A warp has every 32nd row.
#include "tallskinny/gemm/device/element.cuh"

constexpr int columns = policy.columns, warps = policy.threads / 32, of_lane = (columns + 31) / 32;

extern "C" __global__ void __launch_bounds__(policy.threads, 1) axes_factor(ts::cuda::AxesFactorArguments a) {
  extern __shared__ __align__(16) double triangle[];
  double* const diagonal = triangle + columns * (columns + 1) / 2;
  const int m = a.m, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto row = [&](int i) { return triangle + i * columns - i * (i + 1) / 2; };  // of which element j >= i is [j]
  for (int i = warp; i < m; i += warps)
    for (int j = i + lane; j < m; j += 32) {
      row(i)[j] = a.gram[static_cast<int64>(i) * m + j];
      if (j == i) diagonal[i] = row(i)[i];
    }
  __syncthreads();
  double mine[of_lane];
  /// Elements of row i, from column `from` on.
  const auto take = [&](int i, int from, double factor) {
#pragma unroll
    for (int q = 0; q < of_lane; ++q) {
      const int j = lane + 32 * q;
      mine[q] = j >= from && j < m ? row(i)[j] * factor : 0;
    }
  };
  /// Adds so many times what was taken to row i, from column `from` on.
  const auto add = [&](int i, int from, double factor) {
#pragma unroll
    for (int q = 0; q < of_lane; ++q) {
      const int j = lane + 32 * q;
      if (j >= from && j < m) row(i)[j] = __fma_rn(factor, mine[q], row(i)[j]);
    }
  };
#pragma unroll 1
  for (int j = 0; j < m; ++j) {
    const double pivot = row(j)[j];
    if (!(pivot > a.dead * diagonal[j])) {
      if (threadIdx.x == 0) *a.independent = 0;
      return;
    }
    const double inverse = 1 / pivot;
    take(j, j + 1, 1);
#pragma unroll 1
    for (int i = j + 1 + warp; i < m; i += warps) add(i, i, -row(j)[i] * inverse);
    __syncthreads();
  }
  for (int i = warp; i < m; i += warps) {
    const double factor = 1 / sqrt(row(i)[i]);
    __syncwarp();
    for (int j = i + lane; j < m; j += 32) row(i)[j] *= factor;
  }
  __syncthreads();
  // Row i of the inverse is 1 / r_ii times e_i less the products with rows below it; it replaces row i of R.
#pragma unroll 1
  for (int i = m; i-- > 0;) {
    const double inverse = 1 / row(i)[i];
    take(i, i + 1, -inverse);
#pragma unroll
    for (int q = 0; q < of_lane; ++q)
      if (lane + 32 * q == i) mine[q] = inverse;
#pragma unroll 1
    for (int h = warp; h < i; h += warps) {
      const double factor = row(h)[i];
      __syncwarp();
      if (lane == i % 32) row(h)[i] = 0;
      __syncwarp();
      add(h, i, factor);
    }
    __syncthreads();
  }
  for (int i = warp; i < m; i += warps) {
    const double inverse = 1 / row(i)[i];
    for (int j = lane; j < m; j += 32)
      a.gram[static_cast<int64>(i) * m + j] = j < i ? 0 : j == i ? inverse : -row(i)[j] * inverse;
  }
  if (threadIdx.x == 0) *a.independent = 1;
}
