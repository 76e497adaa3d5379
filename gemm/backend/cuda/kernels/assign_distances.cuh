// Squared distances, a thread a row.
// TS_TASK 0: ||x_i - c_label||^2 by direct differences in float64. 1: of those, weighted, the sum over one chunk, a thread a
// chunk. 2: sum_j ((x_ij - shift_j) scale - c_qj)^2 in TS_SCORE for `count` candidates q, one after the other in `out`.
#include "assign_rows.cuh"

using Score = TS_SCORE;

extern "C" __global__ void __launch_bounds__(256, 2)
    assign_distances(Rows x, int d, const double* centroids, int count, const int* labels, const double* weights,
                     int64 chunk, const double* shift, double scale, double* distances, Score* out) {
  const int64 thread = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x;
#if TS_TASK == 0
  if (thread >= x.count) return;
  const double* c = centroids + static_cast<int64>(labels[thread]) * d;
  distances[thread] =
      squared_distance(d, 1, [&](int j) { return value(x, thread, j); }, [&](int j) { return c[j]; });
#elif TS_TASK == 1
  const int64 begin = thread * chunk, end = begin + chunk < x.count ? begin + chunk : x.count;
  if (begin >= x.count) return;
  double sum = 0;
#pragma unroll 8
  for (int64 i = begin; i < end; ++i)
    sum = __dadd_rn(sum, __dmul_rn(weights == nullptr ? 1.0 : weights[i], distances[i]));
  out[thread] = sum;
#else
  if (thread >= x.count) return;
  for (int q = 0; q < count; ++q) {
    Score sum = 0;
    for (int j = 0; j < d; ++j) {
      const Score v = static_cast<Score>(__dmul_rn(__dsub_rn(value(x, thread, j), shift[j]), scale));
      const Score difference = v - static_cast<Score>(centroids[static_cast<int64>(q) * d + j]);
      sum = madd(difference, difference, sum);
    }
    out[q * x.count + thread] = sum;
  }
#endif
}
