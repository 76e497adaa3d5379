// The exact label of every row that `undecided` marks (bit i % 32 of word i / 32), or of all rows if there are no marks.
#include "assign_exact.cuh"

extern "C" __global__ void __launch_bounds__(32 * warps, 2)
    assign_decide(Rows x, Centroids c, const uint32* undecided, int* labels, Sums sums, Stats* stats) {
  const int lane = threadIdx.x % 32;
  const int64 first = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32;
  uint64 changed = 0, rescored = 0;
  for (int64 word = first; word * 32 < x.count; word += static_cast<int64>(gridDim.x) * warps) {
    uint32 left = undecided != nullptr         ? undecided[word]
                  : x.count - word * 32 >= 32 ? everyone
                                              : (1u << (x.count - word * 32)) - 1;
    rescored += __popc(left);
    for (; left != 0; left &= left - 1) {
      const int64 i = word * 32 + __ffs(left) - 1;
      const int label = exact_label(c, x, i), before = labels[i];
      if (label == before) continue;
      ++changed;
      if (sums.upper != nullptr)
        move_rows(x, c.cols, sums, GlobalSums{sums, c.cols}, i, 1, before, label);
      __syncwarp();
      if (lane == 0) labels[i] = label;
    }
  }
  if (lane != 0) return;
  if (changed != 0) atomicAdd(&stats->changed, changed);
  if (rescored != 0) atomicAdd(&stats->rescored, rescored);
}
