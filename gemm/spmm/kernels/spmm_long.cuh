// The long rows of Y = alpha (op(A) + diagonal I) X + beta Y (sparse_row.cuh), cut into parts: a block sums one part, and the last
// block of a row to finish adds the parts in their order.
#include "tallskinny/gemm/spmm/kernels/sparse_row.cuh"

constexpr int teams = 256 / TS_LANES;

/// As ts::LongRowPart.
struct Part {
  int64 row, begin, end;
  int number, count, ticket;  ///< of the row's parts; which ticket is the row's
};

extern "C" __global__ void __launch_bounds__(256, 2)
    spmm_long(const Part* parts_of_rows, SparseArgument a, XArgument x, YArgument y, Result alpha,
              Result beta, Result diagonal, unsigned* tickets, Result* partials) {
  extern __shared__ __align__(16) unsigned char shared[];
  Result* const sums = reinterpret_cast<Result*>(shared);  // teams x TS_Q
  __shared__ bool last;
  const Part part = parts_of_rows[blockIdx.x];
  const int lane = threadIdx.x % TS_LANES, team = threadIdx.x / TS_LANES;
  RowSums mine = {};
  add_entries(mine, a, x, part.begin + team, part.end, teams, lane);
#pragma unroll
  for (int pass = 0; pass < TS_PASSES; ++pass)
    if (inside(pass, lane))
#pragma unroll
      for (int k = 0; k < TS_VECTOR; ++k) sums[team * TS_Q + place_of(pass, lane) + k] = mine.part[pass][k];
  __syncthreads();
  for (int half = teams / 2; half > 0; half /= 2) {
    for (int e = threadIdx.x; e < half * TS_Q; e += 256) sums[e] = plus(sums[e], sums[e + half * TS_Q]);
    __syncthreads();
  }

  Result* const first = partials + (static_cast<int64>(blockIdx.x) - part.number) * TS_Q;
  for (int j = threadIdx.x; j < TS_Q; j += 256) first[part.number * TS_Q + j] = sums[j];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(tickets + part.ticket, 1u) == static_cast<unsigned>(part.count) - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int j = threadIdx.x; j < TS_Q; j += 256) {
    Result sum = {};
    for (int p = 0; p < part.count; ++p) sum = plus(sum, first[static_cast<int64>(p) * TS_Q + j]);
#if TS_SHIFTED
    sum = madd(diagonal, widen(x.data[part.row * x.row_stride + j * x.column_stride]), sum);
#endif
    store_scaled(y.data + part.row * y.row_stride + j * y.column_stride, alpha, sum, beta);
  }
}
