// Lists candidates of rows whose scores of one product left more than two centroids, where no kernel has three products
// of such rows. The same scores are computed again and compared with the row's limit. Few rows are listed, and few
// scores are below a limit. Include after the shapes of assign_groups.cuh, and assign_best.cuh.
#pragma once
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_best.cuh"

/// Lists the centroids of a chunk that a row's limit leaves: `best` of the row, whose position is its label.
__device__ __forceinline__ void collect_chunk(const float (&product)[4 * blocks_of_8], const float* origins, int first,
                                              const Arguments& a, const Row (&row)[slots]) {
  const int mine = first + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int b = 0; b < blocks_of_8; ++b) {
    const float2 origin = __ldg(reinterpret_cast<const float2*>(origins + mine + 8 * b));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Row& of = row[i / 2];
      const float sum = (i % 2 == 0 ? origin.x : origin.y) + product[4 * b + i];
      if (score_of(key_of(sum, a.one << index_bits, 0)) > of.best) continue;
      const int place = atomicAdd(a.candidates.counts + of.label, 1);
      if (place < ts::cuda::most_candidates)
        a.candidates.numbers[of.label * ts::cuda::most_candidates + place] = mine + 8 * b + i % 2;
    }
  }
}

/// The limits of rows whose candidates are collected, and their positions.
__device__ __forceinline__ void limit_rows(Row (&row)[slots], const Arguments& a, int64 first, int64 mine) {
#pragma unroll
  for (int s = 0; s < slots; ++s) {
    const int of = 2 * (static_cast<int>(threadIdx.x) % 32 / 4) + s;
    const int64 i = __shfl_sync(everyone, mine, of);
    const bool collects = i >= 0 && first + of < a.candidates.positions;
    row[s].best = collects ? __int_as_float(a.pairs.of_row[i].second) : 0;  // below all scores
    row[s].label = collects ? static_cast<int>(first) + of : -1;
  }
}
/// Replaces the pair of each row by the place of its candidates.
__device__ __forceinline__ void list_candidates_of(const Row (&row)[slots], const Arguments& a, int64 mine) {
  const int lane = threadIdx.x % 32, from = lane / 2 * 4 % 32;
  const int even = __shfl_sync(everyone, row[0].label, from), odd = __shfl_sync(everyone, row[1].label, from);
  const int position = lane % 2 == 0 ? even : odd;
  if (mine >= 0) a.pairs.of_row[mine] = {position < 0 ? -1 : -2 - position, -1};
}
