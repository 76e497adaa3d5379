// Draws rows ahead by w D^2 (choose.hpp) and makes them ready for tensor instructions. Blocks run all at once, have a
// stretch of rows each, and meet three times.
//
// w D^2 of all rows in whole numbers of a unit, as PotentialUnit has them, are summed up to each row; a thread for each
// draw looks for where the sum passes. Blocks meet for the unit, for the sums of stretches, and for the draws.
//
// projection_tiles.cuh and seed_tiles.cuh find the rows that candidates, which are rows, are nearer to. Beside
// projections, rows and candidates have a step of columns (float16 parts of limits t and of o = ||c||^2 / 2, and norms
// rounded up):
//   1 1 1 t1 t2 t3 a b 0        o1 o2 o3 -1 -1 -1 -A -B 0
// Of a row v = h + e and a candidate c = k + f (in float16, and what rounding leaves):
//   ||v - c||^2 < D^2  <=>  ||c||^2 / 2 - v c < (D^2 - ||v||^2) / 2
//   |v c - h k| = |h f + e (k + f)| <= ||h|| ||f|| + ||e|| (||k|| + ||f||) = a A + b B
// so that no pair is missed whose ||c||^2 / 2 - h k - (that bound), which is what tensor instructions compute, is below
// the limit. The limit lies higher by what the measured distance and D^2 may lose, and by what the instructions lose:
// each truncates 17 terms and their sum, none larger than 4 (||v|| + C) C, where C is the largest norm of all rows.
#include "tallskinny/gemm/device/philox.cuh"
#include "tallskinny/solvers/kmeans/pass/filter/kernels/projection_norms.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"

using Arguments = ts::cuda::SeedBatchArguments;
constexpr int threads = policy.threads, warps = policy.warps;
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

/// Number of the `count` ascending numbers that are at most x.
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

/// Waits until all blocks have come here for the `time`-th time.
__device__ __forceinline__ void grid_barrier(uint32* arrivals, uint32 time) {
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

/// x in three float16.
struct Parts {
  unsigned short part[3];
  __device__ __forceinline__ explicit Parts(double x) {
#pragma unroll
    for (int p = 0; p < 3; ++p) {
      part[p] = static_cast<unsigned short>(halves(static_cast<float>(x), 0));
      x -= static_cast<double>(widen(Half{part[p]}));
    }
  }
};

__device__ __forceinline__ void put_limit(const Arguments& a, int64 i) {
  const ts::cuda::SeedNorms norms = a.norms[i];
  const double most = __uint_as_float(*a.largest), norm = sqrt(norms.squared);
  const double error = 80.0 * (a.columns / 16 + 2) * 0x1p-23 * most * (norm + most) + 0x1p-22;
  const double apart = a.squared[i] * a.scale * a.scale * (1 + (a.d + 16) * 0x1p-22);
  const double beyond = (apart - norms.squared * (1 - 0x1p-40)) / 2 + 3 * error;
  const Parts t(beyond < 60000 ? __double2float_ru(beyond) : 65504.0f);
  auto* const to = static_cast<uint4*>(a.limits) + 2 * i;
  to[0] = {0x3c003c00u, 0x3c00u | t.part[0] << 16, t.part[1] | static_cast<uint32>(t.part[2]) << 16,
           half_up(norms.rounded) | static_cast<uint32>(half_up(norms.residual)) << 16};
  to[1] = {0, 0, 0, 0};
}

/// A warp makes candidate q ready: chunk by chunk lie the eights of columns of all its candidates, their negated
/// projections and the step of limits. Those that fill up the last chunk are far away.
__device__ __forceinline__ void put_candidate(const Arguments& a, int q) {
  constexpr unsigned sign = 0x8000;
  constexpr int chunk = ts::cuda::projection_chunk;
  constexpr double far = 60000;
  const int lane = threadIdx.x % 32;
  const bool real = q < a.draws;
  const int64 row = real ? __ldcg(a.numbers + q) : 0;
  auto* const to = static_cast<unsigned short*>(a.chunks) +
                   static_cast<int64>(q / chunk) * chunk * (a.columns + ts::cuda::limit_columns) + q % chunk * 8;
  const auto* const half = static_cast<const unsigned short*>(a.halves) + row * a.columns;
  for (int j = lane; j < a.columns; j += 32)
    to[j / 8 * chunk * 8 + j % 8] = real ? static_cast<unsigned short>(half[j] ^ sign) : 0;
  if (lane >= ts::cuda::limit_columns) return;
  const ts::cuda::SeedNorms norms = a.norms[row];
  const Parts o(real ? norms.squared / 2 : far);
  unsigned short bits = 0;
#pragma unroll
  for (int p = 0; p < 3; ++p)
    if (lane == p) bits = o.part[p];
  if (lane >= 3 && lane < 6) bits = static_cast<unsigned short>(halves(-1, 0));
  if (lane == 6) bits = half_up(norms.residual) | sign;
  if (lane == 7) bits = half_up(__fadd_ru(norms.rounded, norms.residual)) | sign;
  const int j = a.columns + lane;
  to[j / 8 * chunk * 8 + j % 8] = bits;
}

extern "C" __global__ void __launch_bounds__(policy.threads, 1) seed_ahead(Arguments a) {
  __shared__ int64 of_warps[warps], through_blocks[policy.most_blocks];
  __shared__ double largest[warps];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, blocks = gridDim.x;
  const int64 each = (a.x.count + blocks - 1) / blocks;
  const auto begin_of = [&](int64 block) { return block * each < a.x.count ? block * each : a.x.count; };
  const int64 begin = begin_of(blockIdx.x), end = begin_of(blockIdx.x + 1);
  const auto value = [&](int64 i) { return __dmul_rn(a.weights == nullptr ? 1.0 : a.weights[i], a.squared[i]); };

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
  grid_barrier(a.arrivals, 1);
  most = 0;
  for (int b = lane; b < blocks; b += 32) most = max(most, __ldcg(a.sums + b));
#pragma unroll
  for (int far = 16; far > 0; far /= 2) most = max(most, __shfl_xor_sync(everyone, most, far));
  const double unit = unit_of(__longlong_as_double(most), a.x.count);

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
    if (i < end) a.through[i] = below + through, a.marks[i] = 0, put_limit(a, i);
    __syncthreads();
  }
  if (thread == 0) a.sums[blocks + blockIdx.x] = before;
  grid_barrier(a.arrivals, 2);
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
  if (blockIdx.x == 0 && thread == 0) *a.outcome = {total, total, unit, 0}, *a.total = 0;
  for (int q = static_cast<int>(blockIdx.x) * threads + thread; q < a.draws; q += blocks * threads) {
    int64 row = 0;
    double least = 0x1p1000;  // where nothing is left, nothing is taken
    if (total > 0) {
      const double u = uniform(philox(a.first_number + 2 * q, a.stream, a.key));
      const int64 wanted = static_cast<int64>(__dmul_rn(u, static_cast<double>(total)));
      const int64 passes = wanted < total ? wanted : total - 1;
      const int64 block = count_up_to(passes, blocks, [&](int64 b) { return through_blocks[b]; });
      const int64 rest = passes - (block == 0 ? 0 : through_blocks[block - 1]), from = begin_of(block);
      row = from + count_up_to(rest, begin_of(block + 1) - from, [&](int64 i) { return __ldcg(a.through + from + i); });
      const double taken = uniform(philox(a.first_number + 2 * q + 1, a.stream, a.key));
      least = __dmul_rn(taken, a.squared[row]);
    }
    a.numbers[q] = row, a.least[q] = least;
  }
  grid_barrier(a.arrivals, 3);
  for (int q = static_cast<int>(blockIdx.x) * warps + warp; q < a.padded; q += blocks * warps) put_candidate(a, q);
}
