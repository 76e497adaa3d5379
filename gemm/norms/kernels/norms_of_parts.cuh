// norms[j] = the root of the sum of all parts (parts.cuh) of the squares of column j, in their order.
#include "tallskinny/gemm/norms/kernels/squares.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads)
    norms_of_parts(const __grid_constant__ ts::cuda::NormsOfPartsArguments a) {
  const int64 j = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  if (j >= a.columns) return;
  Sum total = {};
#pragma unroll 4
  for (int64 part = 0; part < a.count; ++part) total += reinterpret_cast<const Sum*>(a.parts + part * a.size)[j];
  static_cast<Real*>(a.norms)[j * a.norms_stride] = static_cast<Real>(total.root());
}
