// The exact label of every selected row, or of those among them that `undecided` marks (bit p % 32 of word p / 32 for
// the row at position p), unless there are fewer than lists.few. Of rows with a pair of centroids left a warp takes
// two at a time, of others one, so that few of them keep all multiprocessors busy; where a row has many centroids to
// choose from, all warps of the block share it.
#include "tallskinny/solvers/kmeans/pass/resolver/kernels/assign_exact.cuh"
#include "tallskinny/solvers/kmeans/pass/sums/kernels/sums_moves.cuh"

constexpr int many = 256;  // centroids

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_decide(ts::cuda::DecideArguments a) {
  const auto& [x, c, selection, undecided, pairs, labels, sums, counts, lists] = a;
  const auto choice = [&](int tile) {
    const int listed = tile < 0 ? 0 : lists.each * lists.counts[tile];
    return listed == 0 || listed > lists.stride
               ? Choice{nullptr, c.count}
               : Choice{lists.numbers + static_cast<int64>(tile) * lists.stride, listed};
  };
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64 count = count_of(selection, x);
  const bool all = undecided == nullptr || count < lists.few;
  uint64 changed = 0;
  // The warp's next 32 positions, of which mostly few are pending, are taken together: each lane answers for one.
  const int64 stride = static_cast<int64>(gridDim.x) * warps;
  for (int64 begin = static_cast<int64>(blockIdx.x) * warps; begin < count; begin += 32 * stride) {
    const int64 mine = begin + warp + lane * stride;
    const bool pending = mine < count && (all || (undecided[mine / 32] >> mine % 32 & 1) != 0);
    const int64 row = pending ? row_at(selection, mine) : 0;
    const Pair pair = pending && pairs != nullptr ? pairs[row] : Pair{-1, -1};
    const int before = pending ? labels[row] : -1;
    int label = before;
    for (uint32 left = __ballot_sync(everyone, pending && pair.first >= 0); left != 0;) {
      const int turn = __ffs(left) - 1;
      left &= left - 1;
      const int next = left != 0 ? __ffs(left) - 1 : turn;
      left &= left - 1;
      const int of = lane < 16 ? turn : next;
      const Pair two = {__shfl_sync(everyone, pair.first, of), __shfl_sync(everyone, pair.second, of)};
      const int found = exact_label_of_pair(c, x, __shfl_sync(everyone, row, of), two);
      const int answer = __shfl_sync(everyone, found, lane == turn ? 0 : 16);
      if (lane == turn || lane == next) label = answer;
    }
    const bool all = pending && pair.first < 0;
    const bool few = all && (c.count <= many || (pair.first < -1 && choice(-2 - pair.first).count <= 32));
    for (uint32 left = __ballot_sync(everyone, few); left != 0; left &= left - 1) {
      const int turn = __ffs(left) - 1;
      const int tile = -2 - __shfl_sync(everyone, pair.first, turn);
      const int found = exact_label<Team<false>>(c, x, __shfl_sync(everyone, row, turn), choice(tile), lane, 32);
      if (lane == turn) label = found;
    }
    if (c.count > many) {
      const uint32 others = __ballot_sync(everyone, all && !few);
      __shared__ uint32 wanted[warps];
      if (lane == 0) wanted[warp] = others;
      __syncthreads();
      for (int w = 0; w < warps; ++w)
        for (uint32 left = wanted[w]; left != 0; left &= left - 1) {
          const int turn = __ffs(left) - 1;
          const int64 i = row_at(selection, begin + w + turn * stride);
          const int tile = pairs == nullptr ? -1 : -2 - pairs[i].first;
          const int found = exact_label<Team<true>>(c, x, i, choice(tile), Team<true>::rank(), Team<true>::size);
          if (warp == w && lane == turn) label = found;
        }
      __syncthreads();
    }
    const bool moves = label != before;
    const uint32 moving = __ballot_sync(everyone, moves);
    if (moving == 0) continue;
    changed += __popc(moving);
    if (sums.upper != nullptr) list_moves(sums.moves, row, before, moving);
    if (moves) labels[row] = label;
  }
  if (lane == 0 && changed != 0) atomicAdd(&counts->changed, changed);
}
