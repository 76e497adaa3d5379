// Some rows of an operand, one after the other: to(s, j) = a(rows[s], j).
#include "tallskinny/gemm/device/element.cuh"

extern "C" __global__ void __launch_bounds__(256, 4)
    bench_gather(Element* to, const Element* a, int64 row_stride, int64 column_stride, int64 columns,
                 const int64* rows, int64 count) {
  const int64 all = count * columns, stride = static_cast<int64>(gridDim.x) * 256;
  for (int64 e = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x; e < all; e += stride)
    to[e] = a[rows[e / columns] * row_stride + e % columns * column_stride];
}
