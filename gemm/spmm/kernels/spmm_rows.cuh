// Y = alpha (op(A) + diagonal I) X + beta Y, op(A) in compressed sparse rows (sparse_row.cuh), for rows of at most `longest` entries;
// longer ones are left to spmm_long, for which the tickets are set to zero here.
// TS_SPLIT teams of TS_LANES lanes share the entries of a row and add up at the end, in a fixed order.
// TS_BLOCKS: of 256 threads that a multiprocessor shall hold.
#include "tallskinny/gemm/spmm/kernels/sparse_row.cuh"

constexpr int group = TS_LANES * TS_SPLIT;
constexpr int groups_a_block = 256 / group;

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

extern "C" __global__ void __launch_bounds__(256, TS_BLOCKS)
    spmm_rows(int64 rows, int64 longest, SparseArgument a, XArgument x, YArgument y, Result alpha,
              Result beta, Result diagonal, unsigned* tickets, int64 ticket_count) {
  const int64 thread = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x;
  for (int64 i = thread; i < ticket_count; i += static_cast<int64>(gridDim.x) * 256) tickets[i] = 0;

  const int lane = threadIdx.x % TS_LANES, team = threadIdx.x % group / TS_LANES;
  const int64 i = static_cast<int64>(blockIdx.x) * groups_a_block + threadIdx.x / group;
  const int64 begin = i < rows ? a.pointers[i] : 0, end = i < rows ? a.pointers[i + 1] : 0;
  const bool active = i < rows && end - begin <= longest;  // all lanes go on, so that they can shuffle
  RowSums sums = {};
  RowBefore before = {};
#if TS_SHIFTED
  if (active && team == 0) {
    load_row(before, y, i, lane, beta);
    add_row(sums, x, i, diagonal, lane);
  }
#endif
  if (active) add_entries(sums, a, x, begin + team, end, TS_SPLIT, lane);
#pragma unroll
  for (int distance = group / 2; distance >= TS_LANES; distance /= 2)
#pragma unroll
    for (int pass = 0; pass < TS_PASSES; ++pass)
#pragma unroll
      for (int k = 0; k < TS_VECTOR; ++k)
        sums.part[pass][k] = plus(sums.part[pass][k], shuffled(sums.part[pass][k], distance));
  if (active && team == 0) store_row(y, i, sums, before, lane, alpha, beta);
}
