// Makes a list of the rows that are marked, in any order. A warp takes 32 words of marks.
#include "assign_rows.cuh"

constexpr int warps = 8;

extern "C" __global__ void __launch_bounds__(32 * warps, 2)
    assign_gather(int64 count, const uint32* undecided, int64* list, uint64* listed, Stats* stats) {
  const int lane = threadIdx.x % 32;
  const int64 words = (count + 31) / 32;
  uint64 all = 0;
  for (int64 first = (static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32) * 32; first < words;
       first += static_cast<int64>(gridDim.x) * warps * 32) {
    const int64 word = first + lane;
    const uint32 real = marks_below(count, word), marks = real != 0 ? real & undecided[word] : 0;
    int before = __popc(marks);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, before, step);
      if (lane >= step) before += other;
    }
    const int total = __shfl_sync(~0u, before, 31);
    if (total == 0) continue;
    uint64 base = 0;
    if (lane == 0) base = atomicAdd(listed, static_cast<uint64>(total));
    int64 at = static_cast<int64>(__shfl_sync(~0u, base, 0)) + before - __popc(marks);
    for (uint32 left = marks; left != 0; left &= left - 1) list[at++] = word * 32 + __ffs(left) - 1;
    all += total;
  }
  if (lane == 0 && all != 0) atomicAdd(&stats->rescored, all);
}
