// Some rows of an operand, one after the other: to(s, j) = a(rows[s], j).
#include "tallskinny/gemm/device/element.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bench_gather(const __grid_constant__ ts::bench::GatherArguments in) {
  auto* const to = static_cast<Element*>(in.to);
  const auto* const a = static_cast<const Element*>(in.a);
  const auto* const rows = static_cast<const int64*>(in.rows);
  const int64 all = in.count * in.columns, stride = static_cast<int64>(gridDim.x) * policy.threads;
  for (int64 e = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x; e < all; e += stride)
    to[e] = a[rows[e / in.columns] * in.row_stride + e % in.columns * in.column_stride];
}
