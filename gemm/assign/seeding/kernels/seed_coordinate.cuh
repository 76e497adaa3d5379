// What kernels that measure distances for seeding share: the coordinates, (x - shift) scale, as policy.coordinates
// says, and sums over the rows of a block.
#pragma once
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

using Score = Choose<policy.wide(), double, float>::type;
using Arguments = ts::cuda::SeedDistancesArguments;

template <class X>
__device__ __forceinline__ Score coordinate(X x, const double* row_scale, double shift, double scale) {
  if constexpr (policy.coordinates == ts::cuda::Coordinates::direct) {
    return __fmul_rn(__fsub_rn(widen(x), static_cast<float>(shift)), static_cast<float>(scale));
  } else {
    double wide = widen(x);
    if (row_scale != nullptr) wide = __dmul_rn(wide, *row_scale);
    return static_cast<Score>(__dmul_rn(__dsub_rn(wide, shift), scale));
  }
}

/// The totals of all threads of a block, added up in a fixed order.
template <int results>
__device__ __forceinline__ void leave_totals(double (&total)[results], double* to) {
  constexpr int warps = policy.threads / 32;
  __shared__ double sums[results][warps];
  const int thread = threadIdx.x;
#pragma unroll
  for (int q = 0; q < results; ++q) {
#pragma unroll
    for (int far = 16; far > 0; far /= 2) total[q] += __shfl_xor_sync(~0u, total[q], far);
    if (thread % 32 == 0) sums[q][thread / 32] = total[q];
  }
  __syncthreads();
  if (thread >= results) return;
  double sum = 0;
  for (int w = 0; w < warps; ++w) sum += sums[thread][w];
  to[thread] = sum;
}
