// Squared distances, a thread a row.
// TS_TASK 0: ||x_i - c_label||^2 by direct differences in float64. 1: of those, weighted, the sum over one chunk, a thread a
// chunk.
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

extern "C" __global__ void __launch_bounds__(256, 2)
    assign_distances(Rows x, int d, const double* centroids, const int* labels, const double* weights,
                     int64 chunk, double* distances, double* out) {
  const int64 thread = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x;
#if TS_TASK == 0
  if (thread >= x.count) return;
  const double* c = centroids + static_cast<int64>(labels[thread]) * d;
  distances[thread] = squared_distance(
      d, 1, [&](int j) { return value(x, thread, j); }, [&](int j) { return c[j]; });
#else
  const int64 begin = thread * chunk, end = begin + chunk < x.count ? begin + chunk : x.count;
  if (begin >= x.count) return;
  double sum = 0;
#pragma unroll 8
  for (int64 i = begin; i < end; ++i)
    sum = __dadd_rn(sum, __dmul_rn(weights == nullptr ? 1.0 : weights[i], distances[i]));
  out[thread] = sum;
#endif
}
