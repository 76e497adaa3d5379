// norms[j] = the root of the sum of all parts (parts.cuh) of the squares of column j, in their order.
// TS_TYPE: of the columns.
#include "tallskinny/gemm/norms/kernels/squares.cuh"

extern "C" __global__ void __launch_bounds__(256)
    norms_of_parts(const double* parts, int64 size, int64 count, int64 columns, Real* norms,
                   int64 norms_stride) {
  const int64 j = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x;
  if (j >= columns) return;
  Sum total = {};
#pragma unroll 4
  for (int64 part = 0; part < count; ++part) total += reinterpret_cast<const Sum*>(parts + part * size)[j];
  norms[j * norms_stride] = static_cast<Real>(total.root());
}
