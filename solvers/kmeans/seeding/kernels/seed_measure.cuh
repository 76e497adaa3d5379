// The squared distances of rows and candidates that seed_pairs.cuh listed, eight lanes a pair, which add theirs as the
// host does, and what each candidate gains. A warp takes 32 pairs.
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"
#include "tallskinny/solvers/kmeans/seeding/kernels/seed_gain.cuh"

constexpr unsigned everyone = 0xffffffffu;
constexpr int lanes = 8, at_once = 32 / lanes;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_measure(ts::cuda::SeedBatchArguments a) {
  const int64 total = static_cast<int64>(*a.total), count = total <= a.most_pairs ? total : 0;
  const int lane = threadIdx.x % 32, own = lane % lanes;
  const double unit = a.outcome->unit;
  for (int64 first = (static_cast<int64>(blockIdx.x) * policy.warps + threadIdx.x / 32) * 32; first < count;
       first += static_cast<int64>(gridDim.x) * policy.warps * 32) {
    int64 gain = 0;
    int candidate = -1;
#pragma unroll 1
    for (int turn = 0; turn < lanes; ++turn) {
      const int64 at = first + turn * at_once + lane / lanes;
      const bool real = at < count;
      const ts::cuda::SeedPair pair = a.pairs[real ? at : first];
      const int64 other = a.numbers[pair.candidate];
      double sum = 0;
#pragma unroll 4
      for (int j = own; j < a.d; j += lanes) sum = add_square(sum, value(a.x, pair.row, j), value(a.x, other, j), 1);
#pragma unroll
      for (int far = 1; far < lanes; far *= 2) sum += __shfl_xor_sync(everyone, sum, far);
      if (!real || own != turn) continue;
      a.pairs[at].squared = sum;
      gain = gain_of(a, unit, pair.row, sum), candidate = pair.candidate;
    }
    // Mostly all pairs are of one candidate.
    const int one = __shfl_sync(everyone, candidate, 0);
    const bool alone = __all_sync(everyone, candidate == one || candidate < 0);
    if (alone) gain = sum_of_warp(gain);
    if (candidate >= 0 && gain != 0 && (!alone || lane == 0))
      atomicAdd(reinterpret_cast<uint64*>(&a.stretches[candidate].most_gain), static_cast<uint64>(gain));
  }
}
