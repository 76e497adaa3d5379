// The row at which the running sum of weighted squared distances passes a number, a block a draw. Begin with
// the first row of a chunk and what the chunks before it leave of the number. A row of which nothing is to be
// had is never drawn.
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

using Score = Choose<policy.wide, double, float>::type;
constexpr int threads = policy.threads;

using Draw = ts::cuda::DrawArgument;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_draw(ts::cuda::SeedDrawArguments a) {
  const auto& [of_rows, weights, count, chunk, draws, rows] = a;
  const Score* const squared = static_cast<const Score*>(of_rows);
  __shared__ double sums[threads];
  const Draw draw = draws[blockIdx.x];
  const int64 each = (chunk + threads - 1) / threads;
  const int64 end = draw.first + chunk < count ? draw.first + chunk : count;
  const auto begin_of = [&](int thread) { return draw.first + thread * each < end ? draw.first + thread * each : end; };
  const auto value = [&](int64 i) { return (weights == nullptr ? 1.0 : weights[i]) * static_cast<double>(squared[i]); };
  double sum = 0;
  for (int64 i = begin_of(threadIdx.x); i < begin_of(threadIdx.x + 1); ++i) sum += value(i);
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  // Rounding may carry past the end: then the last row that can be drawn is.
  double rest = draw.rest;
  int found = 0;
  bool passed = false;
  for (int t = 0; t < threads && !passed; ++t) {
    if (sums[t] <= 0) continue;
    found = t;
    passed = rest < sums[t];
    if (!passed) rest -= sums[t];
  }
  int64 row = draw.first;
  for (int64 i = begin_of(found); i < begin_of(found + 1); ++i) {
    const double v = value(i);
    if (v <= 0) continue;
    row = i;
    if (passed && rest < v) break;
    rest -= v;
  }
  rows[blockIdx.x] = row;
}
