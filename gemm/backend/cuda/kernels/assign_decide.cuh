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
    if (sums.upper != nullptr) list_moves(sums.moves, i, before, 1);
    __syncwarp();
    if (lane == 0) labels[i] = label;
  };
  // The warp's next 32 positions, of which mostly few are open, are looked at together.
  const int64 stride = static_cast<int64>(gridDim.x) * warps;
  for (int64 begin = static_cast<int64>(blockIdx.x) * warps; begin < count; begin += 32 * stride) {
    const int64 mine = begin + warp + lane * stride;
    const bool open = mine < count && (undecided == nullptr || (undecided[mine / 32] >> mine % 32 & 1) != 0);
    const Pair pair = open && pairs != nullptr ? pairs[mine] : Pair{-1, -1};
    const bool shared = open && pair.first < 0 && c.count > many;
    for (uint32 left = __ballot_sync(everyone, open && !shared); left != 0; left &= left - 1) {
      const int turn = __ffs(left) - 1;
      const Pair of = {__shfl_sync(everyone, pair.first, turn), __shfl_sync(everyone, pair.second, turn)};
      const int64 i = selection.row(begin + warp + turn * stride);
      settle(i, of.first < 0 ? exact_label<Team<false>>(c, x, i, lane, 32) : exact_label_of_pair(c, x, i, of));
    }
    if (c.count <= many) continue;
    __shared__ uint32 wanted[warps];
    const uint32 by_block = __ballot_sync(everyone, shared);
    if (lane == 0) wanted[warp] = by_block;
    __syncthreads();
    for (int w = 0; w < warps; ++w)
      for (uint32 left = wanted[w]; left != 0; left &= left - 1) {
        const int64 i = selection.row(begin + w + (__ffs(left) - 1) * stride);
        const int label = exact_label<Team<true>>(c, x, i, Team<true>::rank(), Team<true>::size);
        if (warp == w) settle(i, label);
      }
    __syncthreads();
  }
  if (lane == 0 && changed != 0) atomicAdd(&stats->changed, changed);
}
