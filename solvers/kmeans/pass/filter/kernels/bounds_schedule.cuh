// Order in which blocks take tiles of rows. Tiles with the longest lists come first, dealt to blocks forwards and
// backwards in turn, so that all have about as much to do. One block counts how many tiles have as many chunks.
#include "tallskinny/gemm/device/element.cuh"

constexpr int threads = policy.threads, bins = threads;

extern "C" __global__ void __launch_bounds__(policy.threads, 1) bounds_schedule(ts::cuda::BoundsScheduleArguments a) {
  __shared__ int first[bins];
  const int me = threadIdx.x;
  const auto bin = [&](int tile) { return bins - 1 - (a.counts[tile] < bins ? a.counts[tile] : bins - 1); };
  first[me] = 0;
  __syncthreads();
  for (int tile = me; tile < a.tiles; tile += threads) atomicAdd(first + bin(tile), 1);
  __syncthreads();
  for (int step = 1; step < bins; step *= 2) {  // how many have as many chunks, or more
    const int before = me >= step ? first[me - step] : 0;
    __syncthreads();
    first[me] += before;
    __syncthreads();
  }
  for (int tile = me; tile < a.tiles; tile += threads) {
    const int place = atomicSub(first + bin(tile), 1) - 1, round = place / a.blocks, at = place % a.blocks;
    const bool back = round % 2 == 1 && round < a.tiles / a.blocks;
    a.schedule[round * a.blocks + (back ? a.blocks - 1 - at : at)] = tile;
  }
}
