// Choices among rows that seed_ahead.cuh drew, in turn (choose.hpp), with the bits of HostChoices: a block. Of the next
// draws, those count whose D^2 has not fallen too far; a few warps add up what each of these gains, and all threads
// lower D^2 by the best. Gains are whole numbers of a unit, whose order does not matter.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/warp.cuh"

constexpr int threads = policy.threads, warps = threads / 32;
constexpr unsigned everyone = 0xffffffffu;

/// Of a row drawn: its number, where its pairs lie, and D^2 below which it is not taken.
struct Drawn {
  double least;
  int row, begin, count;
};
extern __shared__ Drawn drawn[];  // as many as there are draws

/// Warp w gets the draw that is taken for place w % trials; `next` goes behind the last of these. False: too few are
/// left.
__device__ __forceinline__ bool take(const ts::cuda::SeedTurnsArguments& a, int place, int& next, int& mine) {
  const int lane = threadIdx.x % 32;
  for (int taken = 0; next < a.count; next += 32) {
    const int own = next + lane;
    const bool is_taken = own < a.count && drawn[own].least < static_cast<double>(a.squared[drawn[own].row]);
    const unsigned all = __ballot_sync(everyone, is_taken);
    const int rank = taken + __popc(all & ((1u << lane) - 1));
    if (const unsigned at = __ballot_sync(everyone, is_taken && rank == place); at != 0)
      mine = next + __ffs(static_cast<int>(at)) - 1;
    if (const unsigned last = __ballot_sync(everyone, is_taken && rank == a.trials - 1); last != 0) {
      next += __ffs(static_cast<int>(last));
      return true;
    }
    taken += __popc(all);
  }
  return false;
}

extern "C" __global__ void __launch_bounds__(policy.threads, 1) seed_turns(ts::cuda::SeedTurnsArguments a) {
  __shared__ int64 gains[warps];
  __shared__ int of_warps[warps];
  if (static_cast<int64>(*a.total) > a.most_pairs) return;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  for (int q = thread; q < a.count; q += threads) {
    const ts::cuda::SeedStretch stretch = a.stretch[q];
    drawn[q] = {a.least[q], static_cast<int>(a.numbers[q]), static_cast<int>(stretch.begin),
                static_cast<int>(stretch.count)};
  }
  __syncthreads();
  ts::cuda::SeedOutcome outcome = *a.outcome;
  // Warps of one place go through its pairs together.
  const int together = warps / a.trials, place = warp % a.trials, part = warp / a.trials;
  int next = 0, mine = 0;
  while (outcome.choices < a.most && static_cast<double>(outcome.left) / outcome.unit > a.enough &&
         take(a, place, next, mine)) {
    int64 sum = 0;
    if (part < together) {
      const Drawn of = drawn[mine];
#pragma unroll 2
      for (int p = part * 32 + lane; p < of.count; p += together * 32) {
        const ts::cuda::SeedPair pair = a.pairs[of.begin + p];
        const double gain = __dsub_rn(static_cast<double>(a.squared[pair.row]), static_cast<double>(pair.squared));
        const double weighted = __dmul_rn(a.weights == nullptr ? 1.0 : a.weights[pair.row], gain > 0 ? gain : 0);
        sum += static_cast<int64>(__dmul_rn(weighted, outcome.unit));
      }
      sum = sum_of_warp(sum);
    }
    if (lane == 0) gains[warp] = sum, of_warps[warp] = mine;
    __syncthreads();
    // Each warp finds the best: the largest gain, and of several the first.
    int64 most = -1;
    if (lane < a.trials) {
      most = 0;
      for (int t = 0; t < together; ++t) most += gains[t * a.trials + lane];
    }
    int best = lane;
#pragma unroll
    for (int far = 16; far > 0; far /= 2) {
      const int64 other = __shfl_xor_sync(everyone, most, far);
      const int which = __shfl_xor_sync(everyone, best, far);
      if (other > most || (other == most && which < best)) most = other, best = which;
    }
    const Drawn chosen = drawn[of_warps[best]];
    for (int p = thread; p < chosen.count; p += threads) {
      const ts::cuda::SeedPair pair = a.pairs[chosen.begin + p];
      if (pair.squared < a.squared[pair.row]) a.squared[pair.row] = pair.squared;
    }
    if (thread == 0) a.chosen[outcome.choices] = chosen.row;
    outcome.left -= most, ++outcome.choices;
    __syncthreads();
  }
  if (thread == 0) *a.outcome = outcome;
}
