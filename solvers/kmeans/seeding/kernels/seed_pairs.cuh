// Lists the rows of each candidate whose signs projection_tiles.cuh left, in order. A block takes 32 candidates, those
// of a word, and each of its warps a stretch of rows, twice: to count, and to write. A lane has a candidate. Lists lie
// in any order.
#include "tallskinny/gemm/device/element.cuh"

constexpr unsigned everyone = 0xffffffffu;
constexpr int warps = policy.warps, at_once = 4;

/// each(row) for all rows of the warp, in order, whose word has the lane's bit.
template <class Each>
__device__ __forceinline__ void for_marked(const uint32* words, int64 begin, int64 end, const Each& each) {
  const int lane = threadIdx.x % 32;
  for (int64 first = begin; first < end; first += 32 * at_once) {
    uint32 word[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u) {
      const int64 row = first + 32 * u + lane;
      word[u] = row < end ? words[row] : 0;
    }
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      for (uint32 some = __ballot_sync(everyone, word[u] != 0); some != 0; some &= some - 1) {
        const int from = __ffs(static_cast<int>(some)) - 1;
        if (__shfl_sync(everyone, word[u], from) >> lane & 1) each(static_cast<int>(first + 32 * u + from));
      }
  }
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_pairs(ts::cuda::SeedBatchArguments a) {
  __shared__ int counts[warps][33];
  __shared__ uint64 base;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // Bit 2b + e of word t of a chunk is its column 8b + 2t + e.
  const int candidate = static_cast<int>(blockIdx.x) / 4 * ts::cuda::projection_chunk + lane / 2 * 8 +
                        static_cast<int>(blockIdx.x) % 4 * 2 + lane % 2;
  const uint32* const words = a.signs + blockIdx.x * a.x.count;
  const int64 share = (a.x.count + warps * 32 - 1) / (warps * 32) * 32;
  const int64 begin = warp * share, end = begin + share < a.x.count ? begin + share : a.x.count;
  int count = 0;
  for_marked(words, begin, end, [&](int) { ++count; });
  counts[warp][lane] = candidate < a.draws ? count : 0;
  __syncthreads();
  if (warp == 0) {
    int own = 0;
    for (int w = 0; w < warps; ++w) {
      const int next = counts[w][lane];
      counts[w][lane] = own;
      own += next;
    }
    int through = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(everyone, through, step);
      if (lane >= step) through += other;
    }
    if (lane == 31) base = atomicAdd(a.total, static_cast<uint64>(through));
    __syncwarp();
    for (int w = 0; w < warps; ++w) counts[w][lane] += through - own;
    if (candidate < a.draws) a.stretches[candidate] = {static_cast<int64>(base) + through - own, own, 0};
  }
  __syncthreads();
  int64 at = static_cast<int64>(base) + counts[warp][lane];
  if (candidate >= a.draws) at = a.most_pairs;
  for_marked(words, begin, end, [&](int row) {
    if (at < a.most_pairs) {
      a.pairs[at].row = row;
      a.pairs[at].candidate = candidate;
    }
    ++at;
  });
}
