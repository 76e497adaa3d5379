// Y = alpha (op(A) + diagonal I) X + beta Y, op(A) in compressed sparse rows, for rows of at most `longest`
// entries; longer ones are left to spmm_long, for which the tickets are set to zero here. Teams of lanes share the
// entries of a row and add up at the end, in a fixed order.
#include "tallskinny/gemm/spmm/kernels/sparse_row.cuh"

constexpr int threads = policy.threads, group = policy.group(), groups_a_block = threads / group;

__device__ __forceinline__ Result shuffled(Result x, int distance) {
  constexpr int words = sizeof(Result) / 4;
  union {
    Result whole;
    uint32 word[words];
  } bits = {x};
#pragma unroll
  for (int w = 0; w < words; ++w) bits.word[w] = __shfl_xor_sync(0xffffffffu, bits.word[w], distance);
  return bits.whole;
}

extern "C" __global__ void __launch_bounds__(threads, policy.blocks) spmm_rows(const __grid_constant__ Arguments a) {
  const int64 thread = static_cast<int64>(blockIdx.x) * threads + threadIdx.x;
  for (int64 i = thread; i < a.ticket_count; i += static_cast<int64>(gridDim.x) * threads) a.tickets[i] = 0;

  const int lane = threadIdx.x % lanes, team = threadIdx.x % group / lanes;
  const int64 i = static_cast<int64>(blockIdx.x) * groups_a_block + threadIdx.x / group;
  const int64 begin = i < a.rows ? a.a.pointers[i] : 0, end = i < a.rows ? a.a.pointers[i + 1] : 0;
  const bool active = i < a.rows && end - begin <= a.longest;  // all lanes go on, so that they can shuffle
  RowSums sums = {};
  RowBefore before = {};
  if constexpr (policy.shifted) {
    if (active && team == 0) {
      load_row(before, a, i, lane);
      add_row(sums, a, i, a.diagonal, lane);
    }
  }
  if (active) add_entries(sums, a, begin + team, end, policy.split, lane);
#pragma unroll
  for (int distance = group / 2; distance >= lanes; distance /= 2)
#pragma unroll
    for (int pass = 0; pass < passes; ++pass)
#pragma unroll
      for (int k = 0; k < vector; ++k)
        sums.part[pass][k] = plus(sums.part[pass][k], shuffled(sums.part[pass][k], distance));
  if (active && team == 0) store_row(a, i, sums, before, lane);
}
