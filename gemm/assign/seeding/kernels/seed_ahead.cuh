// Draws rows ahead by w D^2 (choose.hpp): w D^2 of all rows in whole numbers of a unit, as PotentialUnit has them,
// summed up to each row, and a thread for each draw that looks for where the sum passes. Blocks run all at once, have a
// stretch of rows each, and meet twice: for the unit, and for the sums of stretches.
#include "tallskinny/gemm/assign/seeding/kernels/seed_meet.cuh"
#include "tallskinny/gemm/device/philox.cuh"
#include "tallskinny/gemm/device/warp.cuh"

constexpr int threads = policy.threads, warps = threads / 32;
constexpr unsigned everyone = 0xffffffffu;

/// The sum of this and all lower lanes' numbers.
__device__ __forceinline__ int64 sum_through(int64 x) {
#pragma unroll
  for (int far = 1; far < 32; far *= 2) {
    const int64 below = __shfl_up_sync(everyone, x, far);
    if (static_cast<int>(threadIdx.x % 32) >= far) x += below;
  }
  return x;
}

/// How many of `count` numbers, which do not fall, are at most x.
template <class Load>
__device__ __forceinline__ int64 count_up_to(int64 x, int64 count, const Load& load) {
  int64 begin = 0;
  while (begin < count) {
    const int64 middle = (begin + count) / 2;
    if (load(middle) <= x)
      begin = middle + 1;
    else
      count = middle;
  }
  return begin;
}

/// 2^power, so that as many rows of at most `most` have less than 2^62 together.
__device__ __forceinline__ double unit_of(double most, int64 rows) {
  if (!(most > 0)) return 1;
  const int power = 61 - ilogb(most) - (64 - __clzll(rows));
  return ldexp(1.0, power < 1000 ? power : 1000);
}

extern "C" __global__ void __launch_bounds__(policy.threads, 1) seed_ahead(ts::cuda::SeedAheadArguments a) {
  __shared__ int64 of_warps[warps], through_blocks[policy.most_blocks];
  __shared__ double largest[warps];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, blocks = gridDim.x;
  const int64 each = (a.count + blocks - 1) / blocks;
  const auto begin_of = [&](int64 block) { return block * each < a.count ? block * each : a.count; };
  const int64 begin = begin_of(blockIdx.x), end = begin_of(blockIdx.x + 1);
  const auto value = [&](int64 i) {
    return __dmul_rn(a.weights == nullptr ? 1.0 : a.weights[i], static_cast<double>(a.squared[i]));
  };

  // Numbers that are not negative have the order of their bits.
  int64 most = 0;
  for (int64 i = begin + thread; i < end; i += threads) most = max(most, __double_as_longlong(value(i)));
#pragma unroll
  for (int far = 16; far > 0; far /= 2) most = max(most, __shfl_xor_sync(everyone, most, far));
  if (lane == 0) largest[warp] = __longlong_as_double(most);
  __syncthreads();
  if (thread == 0) {
    double all = 0;
    for (int w = 0; w < warps; ++w) all = fmax(all, largest[w]);
    a.sums[blockIdx.x] = __double_as_longlong(all);
  }
  meet(a.arrivals, 1);
  most = 0;
  for (int b = lane; b < blocks; b += 32) most = max(most, __ldcg(a.sums + b));
#pragma unroll
  for (int far = 16; far > 0; far /= 2) most = max(most, __shfl_xor_sync(everyone, most, far));
  const double unit = unit_of(__longlong_as_double(most), a.count);

  int64 before = 0;
  for (int64 first = begin; first < end; first += threads) {
    const int64 i = first + thread;
    const int64 through = sum_through(i < end ? static_cast<int64>(__dmul_rn(value(i), unit)) : 0);
    if (lane == 31) of_warps[warp] = through;
    __syncthreads();
    int64 below = before;
    for (int w = 0; w < warps; ++w) {
      if (w < warp) below += of_warps[w];
      before += of_warps[w];
    }
    if (i < end) a.through[i] = below + through, a.marks[i] = 0;
    __syncthreads();
  }
  if (thread == 0) a.sums[blocks + blockIdx.x] = before;
  meet(a.arrivals, 2);
  if (warp == 0) {
    int64 sum = 0;
    for (int first = 0; first < blocks; first += 32) {
      const int64 through = sum + sum_through(first + lane < blocks ? __ldcg(a.sums + blocks + first + lane) : 0);
      if (first + lane < blocks) through_blocks[first + lane] = through;
      sum = __shfl_sync(everyone, through, 31);
    }
  }
  __syncthreads();
  const int64 total = through_blocks[blocks - 1];
  if (blockIdx.x == 0 && thread == 0) *a.outcome = {total, total, unit, 0}, *a.pairs = 0;
  for (int q = static_cast<int>(blockIdx.x) * threads + thread; q < a.draws; q += blocks * threads) {
    int64 row = 0;
    float least = 0x1p127f;  // where nothing is left, nothing is taken
    if (total > 0) {
      const double u = uniform(philox(a.first_number + 2 * q, a.stream, a.key));
      const int64 wanted = static_cast<int64>(__dmul_rn(u, static_cast<double>(total)));
      const int64 passes = wanted < total ? wanted : total - 1;
      const int64 block = count_up_to(passes, blocks, [&](int64 b) { return through_blocks[b]; });
      const int64 rest = passes - (block == 0 ? 0 : through_blocks[block - 1]), from = begin_of(block);
      row = from + count_up_to(rest, begin_of(block + 1) - from, [&](int64 i) { return __ldcg(a.through + from + i); });
      const double taken = uniform(philox(a.first_number + 2 * q + 1, a.stream, a.key));
      least = __double2float_rd(__dmul_rn(taken, static_cast<double>(a.squared[row])));
    }
    a.numbers[q] = row, a.least[q] = least;
  }
}
