// The exact label of every selected row, or of those among them that `undecided` marks (bit p % 32 of word p / 32 for the row at
// position p). A warp takes one row at a time, so that few of them keep all multiprocessors busy; where a row has many centroids
// to choose from, all warps of the block share it.
#include "assign_exact.cuh"

constexpr int many = 256;  // centroids

extern "C" __global__ void __launch_bounds__(32 * warps, 2)
    assign_decide(Rows x, Centroids c, Selection selection, const uint32* undecided, const Pair* pairs, int* labels,
                  Sums sums, Stats* stats) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64 count = selection.count(x);
  uint64 changed = 0;
  const auto settle = [&](int64 i, int label) {  // by a warp
    const int before = labels[i];
    if (label == before) return;
    ++changed;
    if (sums.upper != nullptr) move_rows(x, c.cols, sums, GlobalSums{sums, c.cols}, i, 1, before, label);
    __syncwarp();
    if (lane == 0) labels[i] = label;
  };
  for (int64 begin = static_cast<int64>(blockIdx.x) * warps; begin < count; begin += static_cast<int64>(gridDim.x) * warps) {
    const int64 p = begin + warp;
    const bool open = p < count && (undecided == nullptr || (undecided[p / 32] >> p % 32 & 1) != 0);
    const Pair pair = open && pairs != nullptr ? pairs[p] : Pair{-1, -1};
    const bool shared = open && pair.first < 0 && c.count > many;
    if (open && !shared) {
      const int64 i = selection.row(p);
      const bool all = pair.first < 0;
      settle(i, exact_label<Team<false>>(c, x, i, all ? lane : lane == 0 ? pair.first : lane == 1 ? pair.second : c.count,
                                         all ? 32 : c.count));
    }
    if (c.count <= many) continue;
    __shared__ bool wanted[warps];
    if (lane == 0) wanted[warp] = shared;
    __syncthreads();
    for (int w = 0; w < warps; ++w) {
      if (!wanted[w]) continue;
      const int64 i = selection.row(begin + w);
      const int label = exact_label<Team<true>>(c, x, i, Team<true>::rank(), Team<true>::size);
      if (warp == w) settle(i, label);
    }
    __syncthreads();
  }
  if (lane == 0 && changed != 0) atomicAdd(&stats->changed, changed);
}
