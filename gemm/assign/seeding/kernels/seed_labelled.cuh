// Squared distances of all rows to the candidates of their labels: a block `chunk` rows, eight lanes two rows, side by
// side over columns, added as the host does. squared = the least of itself and the distance, and the weighted sum of
// that over the block's rows. With `nearest` first_number plus the label is left there for each row that has come
// nearer.
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

constexpr int threads = policy.threads, warps = threads / 32, lanes = 8, at_once = 2;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_labelled(ts::cuda::SeedLabelledArguments a) {
  __shared__ double sums[warps];
  const int thread = threadIdx.x, own = thread % lanes;
  const int64 begin = blockIdx.x * a.chunk, end = begin + a.chunk < a.x.count ? begin + a.chunk : a.x.count;
  const auto clamped = [&](int64 i) { return i < end ? i : end - 1; };
  constexpr int step = threads / lanes * at_once;
  const int64 offset = thread / lanes * at_once;
  double total = 0;
  int ahead[at_once];  // labels of the rows that come next
#pragma unroll
  for (int r = 0; r < at_once; ++r) ahead[r] = a.labels[clamped(begin + offset + r)];
  for (int64 first = begin + offset; first - offset < end; first += step) {
    const double* other[at_once];
    int label[at_once];
#pragma unroll
    for (int r = 0; r < at_once; ++r) {
      label[r] = ahead[r];
      ahead[r] = a.labels[clamped(first + step + r)];
      other[r] = a.candidates + static_cast<int64>(label[r]) * a.d;
    }
    double distance[at_once] = {};
#pragma unroll 4
    for (int j = own; j < a.d; j += lanes)
#pragma unroll
      for (int r = 0; r < at_once; ++r)
        distance[r] = add_square(distance[r], value(a.x, clamped(first + r), j), other[r][j], a.scale);
#pragma unroll
    for (int r = 0; r < at_once; ++r) {
#pragma unroll
      for (int far = 1; far < lanes; far *= 2) distance[r] += __shfl_xor_sync(~0u, distance[r], far);
      const int64 i = first + r;
      if (own != 0 || i >= end) continue;
      double least = a.squared[i];
      if (distance[r] < least) {
        a.squared[i] = least = distance[r];
        if (a.nearest != nullptr) a.nearest[i] = a.first_number + label[r];
      }
      total += (a.weights == nullptr ? 1.0 : a.weights[i]) * least;
    }
  }
#pragma unroll
  for (int far = 16; far > 0; far /= 2) total += __shfl_xor_sync(~0u, total, far);
  if (thread % 32 == 0) sums[thread / 32] = total;
  __syncthreads();
  if (thread != 0) return;
  for (int w = 1; w < warps; ++w) total += sums[w];
  a.totals[blockIdx.x] = total;
}
