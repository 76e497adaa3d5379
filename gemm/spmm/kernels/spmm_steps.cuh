// Several products Y = alpha (A + diagonal I) X + beta Y, after each of which X and Y change places, in one pass through
// A, X and Y: see steps_policy.hpp. A ticket waits for tickets below it alone, which blocks have that run or ran: no block waits
// for one that has not begun. The sums are those of spmm_rows, bit by bit.
#include "tallskinny/gemm/spmm/kernels/whole_row.cuh"

/// Waits until step - 1 has passed all that the rows of a tile of this group meet. What was written until then is seen
/// by all threads of the block.
__device__ __forceinline__ void wait_for(const ts::SpmmSteps& s, const uint32* finished, int step, int64 group) {
  const int64 last = min(group + s.reach, static_cast<int64>(s.groups()) - 1);
  for (int64 g = max(group - s.reach, int64(0)) + threadIdx.x; g <= last; g += threads) {
    uint32 count;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(finished + g) : "memory");
    while (count < step * s.tiles_of(g));
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(threads, policy.blocks) spmm_steps(const __grid_constant__ Arguments a) {
  const ts::SpmmSteps& s = a.steps;
  uint32 *const tickets = s.counters, *const ended = s.counters + 1, *const finished = s.counters + 2;
  __shared__ uint32 ticket;
  uint32 next = 0;
  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
  __syncthreads();
  while (ticket < s.tickets()) {
    const ts::SpmmSteps::Item item = s.item(ticket);
    const int64 of_group = item.tile / s.group;
    const bool there = item.tile >= 0 && item.tile < s.tiles;
    if (threadIdx.x == 0) next = atomicAdd(tickets, 1u);  // on its way while this one is worked on
    if (there) {
      if (item.step > 0) wait_for(s, finished, item.step, of_group);
      Arguments turn = a;
      if (item.step % 2 != 0)
        turn.x = {a.y.data, a.y.row_stride, a.y.column_stride},
        turn.y = {const_cast<void*>(a.x.data), a.x.row_stride, a.x.column_stride};
      multiply_row(turn, item.tile * groups_a_block + threadIdx.x / group);
    }
    __syncthreads();
    if (threadIdx.x == 0) ticket = next;
    __syncthreads();
    if (there && threadIdx.x == threads - 1) {
      __threadfence();
      atomicAdd(finished + of_group, 1u);
    }
  }
  __syncthreads();  // all that this block finished is counted
  __threadfence();
  if (threadIdx.x == 0) next = atomicAdd(ended, 1u);
  if (!__syncthreads_or(threadIdx.x == 0 && next == gridDim.x - 1)) return;
  __threadfence();
  for (int64 i = threadIdx.x; i < s.groups() + 2; i += threads) s.counters[i] = 0;  // as they were found
}
