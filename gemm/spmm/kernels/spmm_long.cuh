// The long rows of Y = alpha (op(A) + diagonal I) X + beta Y, cut into parts: a block sums one part, and the last
// block of a row to finish adds the parts in their order.
#include "tallskinny/gemm/spmm/kernels/sparse_row.cuh"

constexpr int threads = policy.threads, teams = threads / lanes, q = policy.q;

/// As ts::LongRowPart.
struct Part {
  int64 row, begin, end;
  int number, count, ticket;  ///< of the row's parts; which ticket is the row's
};

extern "C" __global__ void __launch_bounds__(threads, 2) spmm_long(const __grid_constant__ Arguments a) {
  extern __shared__ __align__(16) unsigned char shared[];
  Result* const sums = reinterpret_cast<Result*>(shared);  // teams x q
  __shared__ bool last;
  const Part part = static_cast<const Part*>(a.long_parts)[blockIdx.x];
  const int lane = threadIdx.x % lanes, team = threadIdx.x / lanes;
  RowSums mine = {};
  add_entries(mine, a, part.begin + team, part.end, teams, lane);
#pragma unroll
  for (int pass = 0; pass < passes; ++pass)
    if (inside(pass, lane))
#pragma unroll
      for (int k = 0; k < vector; ++k) sums[team * q + place_of(pass, lane) + k] = mine.part[pass][k];
  __syncthreads();
  for (int half = teams / 2; half > 0; half /= 2) {
    for (int e = threadIdx.x; e < half * q; e += threads) sums[e] = plus(sums[e], sums[e + half * q]);
    __syncthreads();
  }

  Result* const first = a.partials + (static_cast<int64>(blockIdx.x) - part.number) * q;
  for (int j = threadIdx.x; j < q; j += threads) first[part.number * q + j] = sums[j];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(a.tickets + part.ticket, 1u) == static_cast<unsigned>(part.count) - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int j = threadIdx.x; j < q; j += threads) {
    Result sum = {};
    for (int p = 0; p < part.count; ++p) sum = plus(sum, first[static_cast<int64>(p) * q + j]);
    if constexpr (policy.shifted) sum = madd(a.diagonal, widen(*x_at(a, part.row, j)), sum);
    store_scaled(y_at(a, part.row, j), a.alpha, sum, a.beta);
  }
}
