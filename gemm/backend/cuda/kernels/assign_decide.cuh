// The exact label of every selected row, or of those among them that `undecided` marks (bit p % 32 of word p / 32 for the row at
// position p). A warp takes one row at a time, so that few of them keep all multiprocessors busy.
#include "assign_exact.cuh"

extern "C" __global__ void __launch_bounds__(32 * warps, 2)
    assign_decide(Rows x, Centroids c, Selection selection, const uint32* undecided, const Pair* pairs, int* labels,
                  Sums sums, Stats* stats) {
  const int lane = threadIdx.x % 32;
  const int64 count = selection.count(x);
  uint64 changed = 0;
  for (int64 p = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32; p < count;
       p += static_cast<int64>(gridDim.x) * warps) {
    if (undecided != nullptr && (undecided[p / 32] >> p % 32 & 1) == 0) continue;
    const int64 i = selection.row(p);
    const Pair pair = pairs != nullptr ? pairs[p] : Pair{-1, -1};
    const bool all = pair.first < 0;
    const int label = exact_label(c, x, i, all ? lane : lane == 0 ? pair.first : lane == 1 ? pair.second : c.count,
                                  all ? 32 : c.count),
              before = labels[i];
    if (label == before) continue;
    ++changed;
    if (sums.upper != nullptr) move_rows(x, c.cols, sums, GlobalSums{sums, c.cols}, i, 1, before, label);
    __syncwarp();
    if (lane == 0) labels[i] = label;
  }
  if (lane == 0 && changed != 0) atomicAdd(&stats->changed, changed);
}
