// Squared distances of rows to the centroids of their labels, by direct differences in float64: eight lanes a row, each
// with one of the partial sums of squared_distance(). What follows from them takes a thread a chunk or a listed row;
// the largest of a chunk takes a warp.
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_distances(ts::cuda::DistancesArguments a) {
  using Task = ts::cuda::DistancesTask;
  const auto& [x, d, centroids, labels, weights, chunk, listed, least, found, distances, out, nearest, first_number] =
      a;
  const int64 thread = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  if constexpr (policy.task == Task::own || policy.task == Task::lower) {
    const int64 i = thread / policy.lanes, row = i < x.count ? i : x.count - 1;  // all lanes exchange
    const double* c = centroids + static_cast<int64>(labels[row]) * d;
    double part = 0;
#pragma unroll 4
    for (int j = static_cast<int>(thread % policy.lanes); j < d; j += policy.lanes)
      part = add_square(part, value(x, row, j), c[j], 1);
#pragma unroll
    for (int step = 1; step < policy.lanes; step *= 2) part = __dadd_rn(part, __shfl_xor_sync(~0u, part, step));
    if (thread % policy.lanes != 0 || i >= x.count) return;
    if (policy.task == Task::lower && !(part < distances[i])) return;
    distances[i] = part;
    if (policy.task == Task::lower && nearest != nullptr) nearest[i] = first_number + labels[i];
  } else if constexpr (policy.task == Task::listed_chunks) {
    const int64 row = listed[thread / chunk] * chunk + thread % chunk;
    if (row >= x.count || !(distances[row] >= least)) return;
    double* const to = out + 3 * atomicAdd(found, 1ull);
    to[0] = distances[row], to[1] = static_cast<double>(row), to[2] = labels[row];
  } else if constexpr (policy.task == Task::largest_of_chunks) {
    const int64 begin = thread / 32 * chunk, end = begin + chunk < x.count ? begin + chunk : x.count;
    if (begin >= x.count) return;
    double largest = 0;
#pragma unroll 4
    for (int64 i = begin + thread % 32; i < end; i += 32) largest = fmax(largest, distances[i]);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) largest = fmax(largest, __shfl_xor_sync(~0u, largest, step));
    if (thread % 32 == 0) out[thread / 32] = largest;
  } else {
    const int64 begin = thread * chunk, end = begin + chunk < x.count ? begin + chunk : x.count;
    if (begin >= x.count) return;
    double result = 0;
#pragma unroll 8
    for (int64 i = begin; i < end; ++i)
      result = __dadd_rn(result, __dmul_rn(weights == nullptr ? 1.0 : weights[i], distances[i]));
    out[thread] = result;
  }
}
