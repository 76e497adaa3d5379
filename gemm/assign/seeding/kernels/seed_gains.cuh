// What sum_i w_i D_i^2 falls by with each candidate whose pairs seed_measure.cuh measured. A warp has a candidate.
#include "tallskinny/gemm/assign/seeding/kernels/seed_gain.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_gains(ts::cuda::SeedGainsArguments a) {
  const int candidate = static_cast<int>((blockIdx.x * policy.threads + threadIdx.x) / 32);
  if (candidate >= a.count || static_cast<int64>(*a.total) > a.most) return;
  const ts::cuda::SeedStretch stretch = a.stretch[candidate];
  const ts::cuda::SeedPair* const pairs = a.pairs + stretch.begin;
  const double unit = a.outcome->unit;
  int64 sum = 0;
#pragma unroll 4
  for (int64 q = threadIdx.x % 32; q < stretch.count; q += 32) {
    const ts::cuda::SeedPair pair = pairs[q];
    sum += gain_of(a.squared[pair.row], pair.squared, a.weights == nullptr ? 1.0 : a.weights[pair.row], unit);
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) a.stretch[candidate].most_gain = sum;
}
