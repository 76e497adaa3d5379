// Makes a list of the rows that are marked, in any order. A warp takes 128 words of marks.
#include "assign_rows.cuh"

constexpr int warps = 8, words_of_lane = 4;

extern "C" __global__ void __launch_bounds__(32 * warps, 2)
    assign_gather(int64 count, const uint32* undecided, int64* list, uint64* listed, Stats* stats) {
  const int lane = threadIdx.x % 32;
  const int64 words = (count + 31) / 32, warp = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32;
  uint64 all = 0;
  for (int64 first = warp * 32 * words_of_lane; first < words; first += static_cast<int64>(gridDim.x) * warps * 32 * words_of_lane) {
    uint32 marks[words_of_lane];
    int own = 0;
#pragma unroll
    for (int w = 0; w < words_of_lane; ++w) {
      const int64 word = first + 32 * w + lane;
      const uint32 real = marks_below(count, word);
      marks[w] = real != 0 ? real & undecided[word] : 0;
      own += __popc(marks[w]);
    }
    int before = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, before, step);
      if (lane >= step) before += other;
    }
    const int total = __shfl_sync(~0u, before, 31);
    if (total == 0) continue;
    uint64 base = 0;
    if (lane == 0) base = atomicAdd(listed, static_cast<uint64>(total));
    int64 at = static_cast<int64>(__shfl_sync(~0u, base, 0)) + before - own;
#pragma unroll
    for (int w = 0; w < words_of_lane; ++w)
      for (uint32 left = marks[w]; left != 0; left &= left - 1) list[at++] = (first + 32 * w + lane) * 32 + __ffs(left) - 1;
    all += total;
  }
  if (lane == 0 && all != 0) atomicAdd(&stats->rescored, all);
}
