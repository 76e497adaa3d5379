// Y(i, :) += alpha carries of row i, for rows that lie in several parts: what spmm_parts leaves to be done. A long row
// is a block's, an entry of another one a thread's; both add in a fixed order.
#include "tallskinny/gemm/spmm/kernels/sparse_row.cuh"

constexpr int threads = policy.threads, q = policy.q;

/// Of the carries first, first + step, ... before `end`, those of column j.
__device__ __forceinline__ Result sum_of_carries(const Arguments& a, int64 first, int64 end, int step, int j) {
  Result sum = {};
#pragma unroll 8
  for (int64 part = first; part < end; part += step) sum = plus(sum, a.carries[part * q + j]);
  return sum;
}

__device__ __forceinline__ void add_to(const Arguments& a, int64 i, int j, Result sum) {
  Result* const y = y_at(a, i, j);
  *y = madd(a.alpha, sum, *y);
}

extern "C" __global__ void __launch_bounds__(threads, 4) spmm_splits(const __grid_constant__ Arguments a) {
  constexpr int columns = q < threads ? q : threads, groups = threads / columns;  // of threads, one a column
  __shared__ Result sums[groups][columns];
  if (blockIdx.x >= a.parts.long_splits) {
    const int64 at = (static_cast<int64>(blockIdx.x) - a.parts.long_splits) * threads + threadIdx.x;
    const int64 number = a.parts.long_splits + at / q;
    if (number >= a.parts.split_count) return;
    const ts::SplitRow split = a.parts.splits[number];
    const int j = static_cast<int>(at % q);
    return add_to(a, split.row, j, sum_of_carries(a, split.first, split.first + split.count, 1, j));
  }
  const ts::SplitRow split = a.parts.splits[blockIdx.x];
  const int column = threadIdx.x % columns, group = threadIdx.x / columns;
  for (int first = 0; first < q; first += columns) {
    const int j = first + column;
    if (group < groups && j < q)
      sums[group][column] = sum_of_carries(a, split.first + group, split.first + split.count, groups, j);
    __syncthreads();
    if (group == 0 && j < q) {
      Result sum = sums[0][column];
      for (int g = 1; g < groups; ++g) sum = plus(sum, sums[g][column]);
      add_to(a, split.row, j, sum);
    }
    __syncthreads();
  }
}
