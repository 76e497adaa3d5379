// Choices among rows that seed_ahead.cuh drew, in turn (choose.hpp), with the bits of HostChoices: a block. Of the next
// draws, those count whose D^2 has not fallen too far; of each choice's the one that gains most lowers D^2. Gains are
// whole numbers of a unit, whose order does not matter, and only fall: those that were smaller in the search
// (seed_measure.cuh) are not summed up again.
//
// A choice takes all warps, or one beside those of the choices that follow. These go by D^2 before all of them: each
// leaves its number at the rows that it lowers, and they are made up to the first that an earlier one's rows concern,
// which are those drawn and those that the best of them lowers: all other gains only fall.
#include "tallskinny/solvers/kmeans/seeding/kernels/seed_gain.cuh"

constexpr int threads = policy.threads, warps = policy.warps;
constexpr unsigned everyone = 0xffffffffu;

using Arguments = ts::cuda::SeedBatchArguments;

/// A drawn row: its gain in the search, its number, the range of its pairs, and D^2 below which it is not taken.
struct Drawn {
  int64 most_gain;
  double least;
  int row, begin, count;
};
static_assert(sizeof(Drawn) == policy.bytes_of_draw);
extern __shared__ Drawn drawn[];  // as many as there are draws

/// Tables that the threads of a block share.
struct Tables {
  int64 sums[2][warps], gains[warps];
  int best[warps], counts[warps], first_met;
  int taken[warps * policy.most_trials];  // draws, choice by choice
};

/// use(pair) for those of a draw that are thread `own` of `all`'s.
template <class Use>
__device__ __forceinline__ void for_pairs(const Arguments& a, int draw, int own, int all, const Use& use) {
  const ts::cuda::SeedPair* const pairs = a.pairs + drawn[draw].begin;
  const int count = drawn[draw].count;
#pragma unroll 4
  for (int p = own; p < count; p += all) use(pairs[p]);
}
__device__ __forceinline__ int64 part_of_gain(const Arguments& a, double unit, int draw, int own, int all) {
  int64 sum = 0;
  for_pairs(a, draw, own, all,
            [&](const ts::cuda::SeedPair& pair) { sum += gain_of(a, unit, pair.row, pair.squared); });
  return sum_of_warp(sum);
}
__device__ __forceinline__ void lower(const Arguments& a, int draw, int own, int all) {
  for_pairs(a, draw, own, all, [&](const ts::cuda::SeedPair& pair) {
    if (pair.squared < a.squared[pair.row]) a.squared[pair.row] = pair.squared;
  });
}

/// Lists the draws taken of the next ones, for a choice at least; returns the number of choices.
__device__ __forceinline__ int list_taken(const Arguments& a, Tables& tables, int next) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int listed = 0;
  for (; next < a.draws && listed < a.trials; next += threads) {
    const int draw = next + static_cast<int>(threadIdx.x);
    const bool own = draw < a.draws && drawn[draw].least < a.squared[drawn[draw].row];
    const unsigned all = __ballot_sync(everyone, own);
    __syncthreads();
    if (lane == 0) tables.counts[warp] = __popc(all);
    __syncthreads();
    const int count = lane < warps ? tables.counts[lane] : 0;
    const int rank = listed + sum_of_warp(lane < warp ? count : 0) + __popc(all & ((1u << lane) - 1));
    if (own && rank < warps * a.trials) tables.taken[rank] = draw;
    listed += sum_of_warp(count);
  }
  if (threadIdx.x == 0) tables.first_met = warps;
  __syncthreads();
  return min(listed / a.trials, warps);
}

/// The best of a choice's draws, and what it gains: sum(draw), which all lanes get.
struct Best {
  int64 gain;
  int draw;
};
template <class Sum>
__device__ __forceinline__ Best find_best(const int* taken, int trials, const Sum& sum) {
  const int lane = threadIdx.x % 32, own = taken[lane < trials ? lane : 0];
  int64 bound = lane < trials ? drawn[own].most_gain : -1, most = -1;
  int best = 0;
  for (;;) {
    int64 largest = bound;
    int which = lane;
#pragma unroll
    for (int far = 16; far > 0; far /= 2) {
      const int64 other = __shfl_xor_sync(everyone, largest, far);
      const int place = __shfl_xor_sync(everyone, which, far);
      if (other > largest || (other == largest && place < which)) largest = other, which = place;
    }
    if (largest < 0 || largest < most) return {most, __shfl_sync(everyone, own, best)};
    if (lane == which) bound = -1;
    const int64 gain = sum(__shfl_sync(everyone, own, which));
    if (gain > most || (gain == most && which < best)) most = gain, best = which;
  }
}

/// The next choice, by all warps.
__device__ __forceinline__ void choose(const Arguments& a, Tables& tables, ts::cuda::SeedOutcome& outcome) {
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  int time = 0;
  const Best best = find_best(tables.taken, a.trials, [&](int draw) {
    const int64 part = part_of_gain(a, outcome.unit, draw, thread, threads);
    time ^= 1;
    if (lane == 0) tables.sums[time][warp] = part;
    __syncthreads();
    return sum_of_warp(lane < warps ? tables.sums[time][lane] : 0);
  });
  lower(a, best.draw, thread, threads);
  if (thread == 0) a.seeds[outcome.choices] = drawn[best.draw].row;
  outcome.left -= best.gain, ++outcome.choices;
}

/// Makes as many of `choices`, a warp each, as do not touch the same rows; returns their number. @param time of the
/// call, from 1 on
__device__ __forceinline__ int choose_some(const Arguments& a, Tables& tables, ts::cuda::SeedOutcome& outcome,
                                           int choices, int64 enough, unsigned time) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int* const taken = tables.taken + warp * a.trials;
  const unsigned own = time * warps + (warps - 1 - warp);  // the first has the largest
  Best best{0, 0};
  if (warp < choices) {
    best = find_best(taken, a.trials, [&](int draw) { return part_of_gain(a, outcome.unit, draw, lane, 32); });
    for_pairs(a, best.draw, lane, 32, [&](const ts::cuda::SeedPair& pair) {
      if (pair.squared < a.squared[pair.row]) atomicMax(a.marks + pair.row, own);
    });
    if (lane == 0) tables.gains[warp] = best.gain;
  }
  __syncthreads();
  if (warp < choices) {
    bool met = lane < a.trials && __ldcg(a.marks + drawn[taken[lane]].row) > own;
    for_pairs(a, best.draw, lane, 32,
              [&](const ts::cuda::SeedPair& pair) { met = __ldcg(a.marks + pair.row) > own || met; });
    if (__any_sync(everyone, met) && lane == 0) atomicMin(&tables.first_met, warp);
  }
  __syncthreads();
  choices = min(choices, tables.first_met);
  // Choices after which enough is gone are not made.
  const int64 gain = lane < choices ? tables.gains[lane] : 0;
  int64 through = gain;
#pragma unroll
  for (int far = 1; far < 32; far *= 2) {
    const int64 below = __shfl_up_sync(everyone, through, far);
    if (lane >= far) through += below;
  }
  choices = __popc(__ballot_sync(everyone, lane < choices && outcome.left - (through - gain) > enough));
  outcome.left -= __shfl_sync(everyone, through, choices - 1);
  if (warp < choices) {
    lower(a, best.draw, lane, 32);
    if (lane == 0) a.seeds[outcome.choices + warp] = drawn[best.draw].row;
  }
  outcome.choices += choices;
  return choices;
}

extern "C" __global__ void __launch_bounds__(policy.threads, 1) seed_rounds(Arguments a) {
  constexpr int few = 3, many = 24;  // choices together that take as long as one by one; those before another try
  __shared__ Tables tables;
  ts::cuda::SeedOutcome outcome = *a.outcome;
  const bool found = static_cast<int64>(*a.total) <= a.most_pairs;
  for (int q = static_cast<int>(threadIdx.x); found && q < a.draws; q += threads) {
    const ts::cuda::SeedStretch stretch = a.stretches[q];
    drawn[q] = {stretch.most_gain, a.least[q], static_cast<int>(a.numbers[q]), static_cast<int>(stretch.begin),
                static_cast<int>(stretch.count)};
  }
  __syncthreads();
  const double wanted = a.enough * outcome.unit;
  const int64 enough = wanted < static_cast<double>(outcome.before) ? static_cast<int64>(wanted) : outcome.before;
  int next = 0, one_by_one = 0;
  for (unsigned time = 1; found && outcome.choices < a.most && outcome.left > enough; ++time) {
    const int choices = min(list_taken(a, tables, next), a.most - outcome.choices);
    if (choices == 0) break;
    int made = 1;
    if (choices == 1 || one_by_one > 0) {
      choose(a, tables, outcome);
      --one_by_one;
    } else {
      made = choose_some(a, tables, outcome, choices, enough, time);
      one_by_one = made < few ? many : 0;
    }
    next = tables.taken[made * a.trials - 1] + 1;
    __syncthreads();
  }
  if (!found) outcome.choices = -1;
  __syncthreads();
  if (threadIdx.x == 0) *a.outcome = outcome;
}
