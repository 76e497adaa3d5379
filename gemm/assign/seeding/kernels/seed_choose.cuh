// Greedy k-means++ (Arthur, Vassilvitskii 2007) on few rows, all choices in one launch: blocks run all at once
// and meet once a choice. Of each choice the draws, of which all blocks make all, come from sums by blocks and
// the distances that the blocks left; then a block measures its rows, eight lanes a row, against the rows
// drawn, and leaves the distances and, for each row drawn, the sum that would be left if that one were chosen.
// Lanes, warps and blocks are added in a fixed order.
#include "tallskinny/gemm/assign/seeding/kernels/seed_meet.cuh"
#include "tallskinny/gemm/device/philox.cuh"

using Score = Choose<policy.wide, double, float>::type;
constexpr int threads = policy.threads, warps = threads / 32, lanes = 8, together = 16 / sizeof(Score),
              groups = policy.trials / lanes;
constexpr int at_once = sizeof(Score) > 4 ? 1 : 2;  // rows of eight lanes
struct alignas(16) Part {
  Score of[together];
};

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

/// What the threads of a block share.
struct Tables {
  double of_warps[warps][policy.trials];  // what would be left of a warp's rows with each row drawn
  double totals[policy.trials];           // and of all rows
  int64 drawn[2][policy.trials];          // the rows drawn, and those of the choice before
};
extern __shared__ __align__(16) double left_by[];  // policy.trials x blocks, and behind them the rows drawn

/// Rows and their weights and distances; a block has those from begin_of(block) on.
struct Held {
  int64 count, each;
  const double* weights;
  int weights_apart;
  Score* squared;
  const Score* to_best;

  __device__ __forceinline__ explicit Held(const ts::cuda::SeedChooseArguments& a)
      : count(a.count),
        each((a.count + gridDim.x - 1) / gridDim.x),
        weights(a.weights == nullptr ? &weight_of_all : a.weights),
        weights_apart(a.weights == nullptr ? 0 : 1),
        squared(static_cast<Score*>(a.squared)),
        to_best(squared) {}
  __device__ __forceinline__ int64 begin_of(int64 block) const { return block * each < count ? block * each : count; }
  __device__ __forceinline__ double weight(int64 i) const { return weights[i * weights_apart]; }
  /// Others may read a distance before or after it is lowered: they lower it, too.
  __device__ __forceinline__ RowShare share(int64 i) const {
    return {weight(i), __ldcg(squared + i), __ldcg(to_best + i)};
  }
};

/// What lane q of each eight has of row g eight + q drawn.
__device__ __forceinline__ void add_to_warp(Tables& tables, int g, double sum) {
  const int lane = threadIdx.x % 32;
  sum += __shfl_xor_sync(~0u, sum, 8);
  sum += __shfl_xor_sync(~0u, sum, 16);
  if (lane < lanes) tables.of_warps[threadIdx.x / 32][g * lanes + lane] = sum;
}
/// Of all of these, the block's sums.
__device__ __forceinline__ void leave_sums(const Tables& tables, double* to) {
  const int lane = threadIdx.x % 32;
  __syncthreads();
  for (int q = threadIdx.x / 32; q < policy.trials; q += warps) {
    const double all = add_lanes(lane < warps ? tables.of_warps[lane][q] : 0);
    if (lane == 0) to[q * gridDim.x + blockIdx.x] = all;
  }
}
/// Takes what all blocks left, and adds it up.
__device__ __forceinline__ void take_totals(Tables& tables, const double* sums) {
  const int lane = threadIdx.x % 32, blocks = gridDim.x;
  for (int e = threadIdx.x; e < policy.trials * blocks; e += threads) left_by[e] = __ldcg(sums + e);
  __syncthreads();
  for (int q = threadIdx.x / 32; q < policy.trials; q += warps) {
    double total = 0;
    for (int b = lane; b < blocks; b += 32) total += left_by[q * blocks + b];
    total = add_lanes(total);
    if (lane == 0) tables.totals[q] = total;
  }
  __syncthreads();
}

/// The rows drawn for choice s, a warp each: the block in which the running sum passes, and the row there.
__device__ __forceinline__ void draw(const ts::cuda::SeedChooseArguments& a, const Held& held, int s, int best,
                                     double left, int64* drawn) {
  const int blocks = gridDim.x;
  for (int q = threadIdx.x / 32; q < policy.trials; q += warps) {
    const int trial = q < a.trials ? q : 0;
    const double u = uniform(philox(a.first_number + static_cast<uint64>(s) * a.trials + trial, a.stream, a.key));
    const Passed block = pass<5>(blocks, u * left, [&](int64 b) { return BlockSum{left_by[best * blocks + b]}; });
    const int64 from = held.begin_of(block.at);
    const Passed row =
        pass<4>(held.begin_of(block.at + 1) - from, block.rest, [&](int64 i) { return held.share(from + i); });
    if (threadIdx.x % 32 == 0) drawn[q] = from + row.at;
  }
}

/// Squared distances of at_once rows, which begin at these elements, to eight candidates: a lane's columns.
__device__ __forceinline__ void add_columns(const Score* __restrict__ rows, const uint32 (&mine)[at_once],
                                            const Score* candidates, int ld, Score (&distance)[at_once][lanes]) {
#pragma unroll 1
  for (int j = threadIdx.x % lanes * together; j < ld; j += lanes * together) {
    Part x[at_once];
#pragma unroll
    for (int r = 0; r < at_once; ++r) x[r] = *reinterpret_cast<const Part*>(rows + mine[r] + j);
#pragma unroll
    for (int q = 0; q < lanes; ++q) {
      const Part c = *reinterpret_cast<const Part*>(candidates + q * ld + j);
#pragma unroll
      for (int r = 0; r < at_once; ++r)
#pragma unroll
        for (int p = 0; p < together; ++p) {
          const Score difference = x[r].of[p] - c.of[p];
          distance[r][q] = madd(difference, difference, distance[r][q]);
        }
    }
  }
}

/// Measures the block's rows against eight candidates, leaves their distances at `to`, eight times count, and lowers
/// those to what was chosen before. Returns what would be left of a thread's rows.
__device__ __forceinline__ double measure(const Score* __restrict__ rows, int ld, const Held& held,
                                          const Score* candidates, Score* to) {
  constexpr int rows_of_warp = 32 / lanes * at_once;
  const int lane = threadIdx.x % 32, own = lane % lanes;
  const int64 begin = held.begin_of(blockIdx.x), end = held.begin_of(blockIdx.x + 1);
  double sum = 0;
  for (int64 first = begin + threadIdx.x / 32 * rows_of_warp; first < end; first += warps * rows_of_warp) {
    int64 row[at_once];
    RowShare share[at_once];
    uint32 mine[at_once];
#pragma unroll
    for (int r = 0; r < at_once; ++r) {
      const int64 i = first + lane / lanes * at_once + r;
      row[r] = i < end ? i : end - 1;
      share[r] = held.share(row[r]);
      if (i >= end) share[r].weight = 0;
      mine[r] = static_cast<uint32>(row[r] * ld);
    }
    Score distance[at_once][lanes] = {};
    add_columns(rows, mine, candidates, ld, distance);
#pragma unroll
    for (int r = 0; r < at_once; ++r) {
      const Score all = add_transposed(distance[r]);
      const Score least = share[r].squared();
      sum += share[r].weight * static_cast<double>(all < least ? all : least);
      if (first + lane / lanes * at_once + r >= end) continue;
      to[own * held.count + row[r]] = all;
      if (own == 0) held.squared[row[r]] = least;
    }
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(policy.threads, 1) seed_choose(ts::cuda::SeedChooseArguments a) {
  __shared__ Tables tables;
  const Score* const __restrict__ rows = static_cast<const Score*>(a.rows);
  const int thread = threadIdx.x, table = policy.trials * gridDim.x;
  Score *const found = static_cast<Score*>(a.found), *const candidates = reinterpret_cast<Score*>(left_by + table);
  Held held(a);
  const int64 begin = held.begin_of(blockIdx.x), end = held.begin_of(blockIdx.x + 1);

  double so_far = 0;
  for (int64 i = begin + thread / lanes; i < end; i += threads / lanes)
    so_far += held.weight(i) * static_cast<double>(held.squared[i]);
  for (int g = 0; g < groups; ++g) add_to_warp(tables, g, so_far);
  leave_sums(tables, a.sums);

  for (int s = 0;; ++s) {  // choices made
    meet(a.arrivals, s + 1);
    take_totals(tables, a.sums + s % 2 * table);
    int best = 0;
    for (int q = 1; q < a.trials; ++q)
      if (tables.totals[q] < tables.totals[best]) best = q;
    const double left = tables.totals[best];
    const bool done = s == a.most || !(left > a.enough);
    if (blockIdx.x == 0 && thread == 0) {
      if (s > 0) a.chosen[s - 1] = tables.drawn[(s - 1) % 2][best];
      if (done) *a.outcome = {s, left};
    }
    if (s > 0) held.to_best = found + (s % 2 * policy.trials + best) * a.count;
    if (done) {
      for (int64 i = begin + thread; i < end; i += threads) held.squared[i] = held.share(i).squared();
      return;
    }
    int64* const drawn = tables.drawn[s % 2];
    draw(a, held, s, best, left, drawn);
    __syncthreads();
    for (int e = thread * together; e < policy.trials * a.ld; e += threads * together)
      *reinterpret_cast<Part*>(candidates + e) =
          *reinterpret_cast<const Part*>(rows + drawn[e / a.ld] * a.ld + e % a.ld);
    __syncthreads();
    Score* const to = found + ((s + 1) % 2) * a.count * policy.trials;
#pragma unroll 1
    for (int g = 0; g < groups; ++g)
      add_to_warp(tables, g, measure(rows, a.ld, held, candidates + g * lanes * a.ld, to + g * lanes * a.count));
    leave_sums(tables, a.sums + (s + 1) % 2 * table);
  }
}
