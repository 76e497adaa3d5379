// AFK-MC2 (Bachem, Lucic, Hassani, Krause 2016, algorithm 1), many chains in one launch: blocks run all at once and
// meet once a chain. A warp of each block follows the chain, all the same way: from x it goes on to y where u < D_y^2
// q_x / (D_x^2 q_y). Then all blocks lower the distances of rows in later chains by the row at its end, eight lanes a
// row.
#include "tallskinny/gemm/assign/seeding/kernels/seed_meet.cuh"

using Score = Choose<policy.wide, double, float>::type;
constexpr unsigned everyone = 0xffffffffu;
constexpr int lanes = 8, together = 16 / sizeof(Score);
struct alignas(16) Part {
  Score of[together];
};

/// The link at which chain c ends, for a whole warp; -1 if that is a centre.
__device__ __forceinline__ int follow(const ts::cuda::SeedChainsArguments& a, int c) {
  const int lane = threadIdx.x % 32, begin = c * a.length;
  const Score* const squared = static_cast<const Score*>(a.squared);
  double odds = 0;  // D_x^2 / q_x
  bool far = false;
  int end = begin;
  for (int first = 0; first < a.length; first += 32) {
    const int link = begin + first + lane;
    const bool real = first + lane < a.length;
    const double distance = real ? __ldcg(squared + a.row_of[link]) : 0, ratio = real ? a.ratio[link] : 1;
    // The first link of a chain is where it begins.
    const double enough = link == begin ? -1 : a.uniforms[real ? link : begin] * ratio, own = distance / ratio;
    const int count = a.length - first < 32 ? a.length - first : 32;
#pragma unroll 8
    for (int i = 0; i < count; ++i) {
      const double next = __shfl_sync(everyone, distance, i), limit = __shfl_sync(everyone, enough, i),
                   odds_there = __shfl_sync(everyone, own, i);
      if (limit < 0 || next > limit * odds) odds = odds_there, far = next > 0, end = begin + first + i;
    }
  }
  return far ? end : -1;
}

extern "C" __global__ void __launch_bounds__(policy.threads, 1) seed_chains(ts::cuda::SeedChainsArguments a) {
  __shared__ int end_of_chain;
  const Score* const __restrict__ rows = static_cast<const Score*>(a.rows);
  Score* const squared = static_cast<Score*>(a.squared);
  const int lane = threadIdx.x % lanes, group = (blockIdx.x * policy.threads + threadIdx.x) / lanes,
            groups = gridDim.x * policy.threads / lanes;
  for (int c = 0; c < a.chains; ++c) {
    if (threadIdx.x < 32) {
      const int end = follow(a, c);
      if (threadIdx.x == 0) end_of_chain = end;
    }
    __syncthreads();
    const int end = end_of_chain;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      if (end >= 0) a.ends[c] = end;
      *a.found = end >= 0 ? c + 1 : c;
    }
    if (end < 0 || c + 1 == a.chains) return;
    const Score* const center = rows + static_cast<int64>(a.row_of[end]) * a.ld;
    for (int first = group - threadIdx.x % 32 / lanes; first < a.count; first += groups) {
      const int row = first + threadIdx.x % 32 / lanes;
      const bool real = row < a.count && a.last[row] > c;
      if (__ballot_sync(everyone, real) == 0) continue;
      const Score* const own = rows + static_cast<int64>(real ? row : 0) * a.ld;
      Score sum = 0;
      for (int j = lane * together; real && j < a.ld; j += lanes * together) {
        const Part x = *reinterpret_cast<const Part*>(own + j), y = *reinterpret_cast<const Part*>(center + j);
#pragma unroll
        for (int p = 0; p < together; ++p) sum = madd(x.of[p] - y.of[p], x.of[p] - y.of[p], sum);
      }
#pragma unroll
      for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(everyone, sum, step);
      if (real && lane == 0 && sum < __ldcg(squared + row)) __stcg(squared + row, sum);
    }
    meet(a.arrivals, static_cast<uint32>(c + 1));
  }
}
