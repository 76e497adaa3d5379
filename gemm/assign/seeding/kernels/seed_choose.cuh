// Greedy k-means++ (Arthur, Vassilvitskii 2007) on few rows, all choices in one launch: blocks run all at once
// and meet once a choice. Of each choice the draws, of which all blocks make all, come from sums by blocks and
// the distances that the blocks left; then a block measures its rows, eight lanes a row, against the rows
// drawn, and leaves the distances and, for each row drawn, the sum that would be left if that one were chosen.
// Lanes, warps and blocks are added in a fixed order.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/philox.cuh"

using Score = Choose<policy.wide, double, float>::type;
constexpr int threads = policy.threads, warps = threads / 32, lanes = 8, together = 16 / sizeof(Score),
              groups = policy.trials / lanes;
constexpr int at_once = sizeof(Score) > 4 ? 1 : 2;  // rows of eight lanes
struct alignas(16) Part {
  Score of[together];
};
/// Waits until all blocks have come here for the `time`-th time.
__device__ __forceinline__ void meet(uint32* arrivals, uint32 time) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrivals, 1u);
    uint32 arrived;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(arrivals) : "memory");
    while (arrived < time * gridDim.x);
  }
  __syncthreads();
}

__device__ __forceinline__ double add_lanes(double sum) {
#pragma unroll
  for (int far = 16; far > 0; far /= 2) sum += __shfl_xor_sync(~0u, sum, far);
  return sum;
}

/// Lane q of eight gets the sum of part[q] over these lanes.
__device__ __forceinline__ Score add_transposed(Score (&part)[lanes]) {
  const int own = threadIdx.x % lanes;
#pragma unroll
  for (int far = lanes / 2; far > 0; far /= 2)
#pragma unroll
    for (int q = 0; q < far; ++q) {
      const Score sent = own & far ? part[q] : part[q + far], kept = own & far ? part[q + far] : part[q];
      part[q] = kept + __shfl_xor_sync(~0u, sent, far);
    }
  return part[0];
}

struct Passed {
  int64 at;
  double rest;
};
/// Where the running sum of load(0).value(), load(1).value(), ... passes `rest`, and what is left of it there;
/// called by a whole warp. Where it never does, because of rounding, the last of positive value, with a rest
/// that nothing passes. A lane loads `each` side by side together before it makes numbers of them.
template <int each, class Load>
__device__ __forceinline__ Passed pass(int64 count, double rest, const Load& load) {
  constexpr double never = 0x1p1000;
  const int lane = threadIdx.x % 32;
  int64 last = 0;
  for (int64 first = 0; first < count; first += 32 * each) {
    const int64 own = first + lane * each;
    decltype(load(0)) loaded[each];
#pragma unroll
    for (int e = 0; e < each; ++e) loaded[e] = load(own + e < count ? own + e : count - 1);
    double part[each], sum = 0;
#pragma unroll
    for (int e = 0; e < each; ++e) {
      part[e] = own + e < count ? loaded[e].value() : 0;
      sum += part[e];
    }
    double through = sum;
#pragma unroll
    for (int far = 1; far < 32; far *= 2) {
      const double below = __shfl_up_sync(~0u, through, far);
      if (lane >= far) through += below;
    }
    double before = __shfl_up_sync(~0u, through, 1);
    if (lane == 0) before = 0;
    const uint32 some = __ballot_sync(~0u, sum > 0), beyond = __ballot_sync(~0u, sum > 0 && rest < through);
    if (beyond != 0 || some != 0) {
      // The lane in which it passes, or the last one so far that has anything.
      const int in = beyond != 0 ? __ffs(static_cast<int>(beyond)) - 1 : 31 - __clz(static_cast<int>(some));
      double left = beyond != 0 ? rest - before : never;
      int found = 0;
      bool passed = false;
#pragma unroll
      for (int e = 0; e < each; ++e) {
        if (passed || !(part[e] > 0)) continue;
        found = e, passed = left < part[e];
        if (!passed) left -= part[e];
      }
      last = first + in * each + __shfl_sync(~0u, found, in);
      left = __shfl_sync(~0u, left, in);
      if (beyond != 0) return {last, left};
    }
    rest -= __shfl_sync(~0u, through, 31);
  }
  return {last, never};
}

struct BlockSum {
  double sum;
  __device__ __forceinline__ double value() const { return sum; }
};
/// Of a row: its weight, its squared distance, and that to what was chosen last.
struct RowShare {
  double weight;
  Score before, to_best;
  __device__ __forceinline__ Score squared() const { return to_best < before ? to_best : before; }
  __device__ __forceinline__ double value() const { return weight * static_cast<double>(squared()); }
};
__device__ const double weight_of_all = 1;

extern "C" __global__ void __launch_bounds__(policy.threads, 1) seed_choose(ts::cuda::SeedChooseArguments a) {
  const auto& [of_rows, count, ld, of_weights, of_squared, trials, stream, key, first_number, most, enough, of_found,
               sums, arrivals, chosen, outcome] = a;
  const Score* const __restrict__ rows = static_cast<const Score*>(of_rows);
  const double* const __restrict__ weights = of_weights;
  Score *const squared = static_cast<Score*>(of_squared), *const found = static_cast<Score*>(of_found);
  extern __shared__ __align__(16) double left_by[];  // policy.trials x blocks
  __shared__ double of_warps[warps][policy.trials], totals[policy.trials];
  __shared__ int64 drawn_at[2][policy.trials];
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, blocks = gridDim.x;
  const int64 each = (count + blocks - 1) / blocks;
  const auto begin_of = [&](int64 block) { return block * each < count ? block * each : count; };
  const int64 begin = begin_of(blockIdx.x), end = begin_of(blockIdx.x + 1);
  Score* const candidates = reinterpret_cast<Score*>(left_by + policy.trials * blocks);
  const double* const weighs = weights == nullptr ? &weight_of_all : weights;
  const int weighs_by = weights == nullptr ? 0 : 1;
  // What lane q of each eight has of row g eight + q drawn, and, of all of these, the block's sums.
  const auto add_to_warp = [&](int g, double sum) {
    sum += __shfl_xor_sync(~0u, sum, 8);
    sum += __shfl_xor_sync(~0u, sum, 16);
    if (lane < lanes) of_warps[warp][g * lanes + lane] = sum;
  };
  const auto leave_sums = [&](double* to) {
    __syncthreads();
    for (int q = warp; q < policy.trials; q += warps) {
      const double all = add_lanes(lane < warps ? of_warps[lane][q] : 0);
      if (lane == 0) to[q * blocks + blockIdx.x] = all;
    }
  };

  double so_far = 0;
  for (int64 i = begin + thread / lanes; i < end; i += threads / lanes)
    so_far += weighs[i * weighs_by] * static_cast<double>(squared[i]);
  for (int g = 0; g < groups; ++g) add_to_warp(g, so_far);
  leave_sums(sums);

  for (int s = 0;; ++s) {  // choices made
    meet(arrivals, s + 1);
    for (int e = thread; e < policy.trials * blocks; e += threads)
      left_by[e] = __ldcg(sums + (s % 2) * policy.trials * blocks + e);
    __syncthreads();
    for (int q = warp; q < policy.trials; q += warps) {
      double total = 0;
      for (int b = lane; b < blocks; b += 32) total += left_by[q * blocks + b];
      total = add_lanes(total);
      if (lane == 0) totals[q] = total;
    }
    __syncthreads();
    int best = 0;
    for (int q = 1; q < trials; ++q)
      if (totals[q] < totals[best]) best = q;
    const double left = totals[best];
    const bool done = s == most || !(left > enough);
    if (blockIdx.x == 0 && thread == 0) {
      if (s > 0) chosen[s - 1] = drawn_at[(s - 1) % 2][best];
      if (done) *outcome = {s, left};
    }
    // Others may read a distance before or after it is lowered: they lower it, too.
    const Score* const to_best = s == 0 ? squared : found + (s % 2 * policy.trials + best) * count;
    const auto share_of = [&](int64 i) -> RowShare {
      return {weighs[i * weighs_by], __ldcg(squared + i), __ldcg(to_best + i)};
    };
    if (done) {
      for (int64 i = begin + thread; i < end; i += threads) squared[i] = share_of(i).squared();
      return;
    }
    int64* const drawn = drawn_at[s % 2];
    for (int q = warp; q < policy.trials; q += warps) {
      const int trial = q < trials ? q : 0;
      const double u = uniform(philox(first_number + static_cast<uint64>(s) * trials + trial, stream, key));
      const Passed block = pass<5>(blocks, u * left, [&](int64 b) { return BlockSum{left_by[best * blocks + b]}; });
      const int64 from = begin_of(block.at);
      const Passed row =
          pass<4>(begin_of(block.at + 1) - from, block.rest, [&](int64 i) { return share_of(from + i); });
      if (lane == 0) drawn[q] = from + row.at;
    }
    __syncthreads();
    for (int e = thread * together; e < policy.trials * ld; e += threads * together)
      *reinterpret_cast<Part*>(candidates + e) = *reinterpret_cast<const Part*>(rows + drawn[e / ld] * ld + e % ld);
    __syncthreads();

    Score* const to = found + ((s + 1) % 2) * count * policy.trials;
    const int own = lane % lanes;
    constexpr int rows_of_warp = 32 / lanes * at_once;
#pragma unroll 1
    for (int g = 0; g < groups; ++g) {
      double sum = 0;
      for (int64 first = begin + warp * rows_of_warp; first < end; first += warps * rows_of_warp) {
        int64 row[at_once];
        RowShare share[at_once];
        uint32 mine[at_once];
#pragma unroll
        for (int r = 0; r < at_once; ++r) {
          const int64 i = first + lane / lanes * at_once + r;
          row[r] = i < end ? i : end - 1;
          share[r] = share_of(row[r]);
          if (i >= end) share[r].weight = 0;
          mine[r] = static_cast<uint32>(row[r] * ld);
        }
        Score distance[at_once][lanes] = {};
#pragma unroll 1
        for (int j = own * together; j < ld; j += lanes * together) {
          Part x[at_once];
#pragma unroll
          for (int r = 0; r < at_once; ++r) x[r] = *reinterpret_cast<const Part*>(rows + mine[r] + j);
#pragma unroll
          for (int q = 0; q < lanes; ++q) {
            const Part c = *reinterpret_cast<const Part*>(candidates + (g * lanes + q) * ld + j);
#pragma unroll
            for (int r = 0; r < at_once; ++r)
#pragma unroll
              for (int p = 0; p < together; ++p) {
                const Score difference = x[r].of[p] - c.of[p];
                distance[r][q] = madd(difference, difference, distance[r][q]);
              }
          }
        }
#pragma unroll
        for (int r = 0; r < at_once; ++r) {
          const Score all = add_transposed(distance[r]);
          const Score least = share[r].squared();
          sum += share[r].weight * static_cast<double>(all < least ? all : least);
          if (first + lane / lanes * at_once + r >= end) continue;
          to[(g * lanes + own) * count + row[r]] = all;
          if (own == 0) squared[row[r]] = least;
        }
      }
      add_to_warp(g, sum);
    }
    leave_sums(sums + (s + 1) % 2 * policy.trials * blocks);
  }
}
