// Squared distances, a thread a row. ||x_i - c_label||^2 by direct differences in float64; or of those,
// weighted, the sum over one chunk, a thread a chunk.
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_distances(ts::cuda::DistancesArguments a) {
  const auto& [x, d, centroids, labels, weights, chunk, distances, out] = a;
  const int64 thread = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  if constexpr (policy.task == ts::cuda::DistancesTask::own) {
    if (thread >= x.count) return;
    const double* c = centroids + static_cast<int64>(labels[thread]) * d;
    const Rows& rows = x;  // which lambdas may have
    distances[thread] = squared_distance(
        d, 1, [&](int j) { return value(rows, thread, j); }, [&](int j) { return c[j]; });
  } else {
    const int64 begin = thread * chunk, end = begin + chunk < x.count ? begin + chunk : x.count;
    if (begin >= x.count) return;
    double sum = 0;
#pragma unroll 8
    for (int64 i = begin; i < end; ++i)
      sum = __dadd_rn(sum, __dmul_rn(weights == nullptr ? 1.0 : weights[i], distances[i]));
    out[thread] = sum;
  }
}
