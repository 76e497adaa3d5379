// Makes a list of the rows that are marked, in any order. A warp takes a stretch of marks, twice: to count its
// rows, and to list them where one addition to the common counter, which takes all of them one after the other,
// made margin.
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"

constexpr int warps = policy.threads / 32;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_gather(ts::cuda::GatherArguments a) {
  const auto& [count, undecided, list, listed] = a;
  const int lane = threadIdx.x % 32;
  const int64 words = (count + 31) / 32, all_warps = static_cast<int64>(gridDim.x) * warps;
  const int64 stretch = (words + all_warps - 1) / all_warps;
  const int64 first = (static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32) * stretch;
  const int64 end = first + stretch < words ? first + stretch : words;
  const auto marks = [&](int64 word) {
    const uint32 real = marks_below(count, word);
    return real != 0 ? real & undecided[word] : 0;
  };
  int own = 0;
#pragma unroll 4
  for (int64 word = first + lane; word < end; word += 32) own += __popc(marks(word));
  int before = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(~0u, before, step);
    if (lane >= step) before += other;
  }
  const int total = __shfl_sync(~0u, before, 31);
  if (total == 0) return;
  uint64 base = 0;
  if (lane == 0) base = atomicAdd(listed, static_cast<uint64>(total));
  int64 at = static_cast<int64>(__shfl_sync(~0u, base, 0)) + before - own;
  for (int64 word = first + lane; word < end; word += 32)
    for (uint32 left = marks(word); left != 0; left &= left - 1) list[at++] = word * 32 + __ffs(left) - 1;
}
