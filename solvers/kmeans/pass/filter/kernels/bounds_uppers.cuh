// Distances of rows to the centroids of their labels, times the scale, rounded up; a warp takes a row.
#include "tallskinny/gemm/device/warp.cuh"
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"

constexpr int warps = policy.threads / 32;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bounds_uppers(ts::cuda::BoundsUppersArguments a) {
  const int lane = threadIdx.x % 32;
  for (int64 at = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32; at < a.x.count;
       at += static_cast<int64>(gridDim.x) * warps) {
    const int64 row = a.order[at];
    const Element* const from = row_of(a.x, row);
    const double* const centroid = a.centroids + static_cast<int64>(a.labels[row]) * a.d;
    double squared = 0;
    for (int j = lane; j < a.d; j += 32) {
      const double step = (static_cast<double>(widen(from[j])) - centroid[j]) * a.scale;
      squared += step * step;
    }
    squared = sum_of_warp(squared);
    if (lane == 0) a.uppers[at] = __double2float_ru(sqrt(squared) * (1 + 0x1p-30));
  }
}
