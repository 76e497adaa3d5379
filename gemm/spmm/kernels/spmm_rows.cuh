// Y = alpha (op(A) + diagonal I) X + beta Y, op(A) in compressed sparse rows. Teams of lanes share the entries of a
// row and add up at the end, in a fixed order.
#include "tallskinny/gemm/spmm/kernels/sparse_row.cuh"

constexpr int threads = policy.threads, group = policy.group(), groups_a_block = threads / group;

/// sums += the entries begin, begin + step, ... before `end`, `unroll` of them under way at the same time.
__device__ __forceinline__ void add_entries(RowSums& sums, const Arguments& a, int64 begin, int64 end, int step,
                                            int lane) {
  const Index* const indices = static_cast<const Index*>(a.a.indices);
  const Element* const values = static_cast<const Element*>(a.a.values);
  for (int64 e = begin; e < end; e += step * unroll) {
    Element value[unroll];
    Index column[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const int64 at = e + u * step;
      const bool there = at < end;
      column[u] = there ? indices[at] : Index(-1);
      value[u] = there ? values[at] : Element{};
    }
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      if (!inside(pass, lane)) continue;
      Piece piece[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (column[u] >= 0) piece[u] = *reinterpret_cast<const Piece*>(x_at(a, column[u], place_of(pass, lane)));
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        if (column[u] < 0) continue;
        add_piece(sums.part[pass], policy.conjugate ? conj(widen(value[u])) : widen(value[u]), piece[u]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(threads, policy.blocks) spmm_rows(const __grid_constant__ Arguments a) {
  const int lane = threadIdx.x % lanes, team = threadIdx.x % group / lanes;
  const int64 i = static_cast<int64>(blockIdx.x) * groups_a_block + threadIdx.x / group;
  const bool active = i < a.rows;  // all lanes go on, so that they can shuffle
  const int64 begin = active ? a.a.pointers[i] : 0, end = active ? a.a.pointers[i + 1] : 0;
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
      for (int k = 0; k < vector; ++k) {
        Result& sum = sums.part[pass][k];
        sum = plus(sum, by_words(sum, [&](uint32 w) { return __shfl_xor_sync(0xffffffffu, w, distance); }));
      }
  if (active && team == 0) store_row(a, i, sums, before, lane);
}
