// Squared distances of all rows to a few candidates, for seeding: a block a chunk of rows, a thread a row of
// each tile of it. Coordinates are (x - shift) scale in Score, those of the candidates come so. policy.lower:
// squared = the least of itself and the distances, and the weighted sum of that over the chunk; or for each of
// the candidates the sum that it alone would leave. With `nearest` the number of the candidate is left there
// for each row that has come nearer; that of the first is first_number.
#include "tallskinny/gemm/assign/seeding/kernels/seed_coordinate.cuh"

constexpr int threads = policy.threads, columns = policy.columns, together = 16 / sizeof(Score),
              results = policy.results();
struct alignas(16) Scores {
  Score part[together];
};
/// Some columns of the rows of a tile, and of the candidates.
struct alignas(16) Stage {
  Score rows[threads][columns + together];
  Score candidates[policy.candidates][columns];
};

/// Columns from j0 on of the rows from `first` on.
__device__ __forceinline__ void stage_rows(Stage& to, const Arguments& a, int64 first, int64 end, int j0) {
  const auto& x = a.x;
  const int thread = threadIdx.x;
  const auto put = [&](int r, int c, const Element* from, double shifted) {
    Score v = 0;
    if (first + r < end && j0 + c < a.d)
      v = coordinate(*from, x.scale == nullptr ? nullptr : x.scale + first + r, shifted, a.scale);
    to.rows[r][c] = v;
  };
  const auto shift = [&](int c) { return j0 + c < a.d ? a.shift[j0 + c] : 0; };
  if (x.column_stride == 1) {  // lanes side by side load elements side by side
    constexpr int step = threads / columns;
    const int c = thread % columns;
    const double shifted = shift(c);
    const Element* from = row_of(x, first + thread / columns) + j0 + c;
#pragma unroll 8
    for (int r = thread / columns; r < threads; r += step, from += step * x.row_stride) put(r, c, from, shifted);
  } else {
    const Element* from = row_of(x, first + thread) + j0 * x.column_stride;
#pragma unroll 4
    for (int c = 0; c < columns; ++c, from += x.column_stride) put(thread, c, from, shift(c));
  }
}
__device__ __forceinline__ void stage_candidates(Stage& to, const Arguments& a, int j0) {
  const double* const candidates = static_cast<const double*>(a.candidates);
  for (int e = threadIdx.x; e < policy.candidates * columns; e += threads) {
    const int q = e / columns, j = j0 + e % columns;
    to.candidates[q][e % columns] =
        q < a.count && j < a.d ? static_cast<Score>(candidates[static_cast<int64>(q) * a.d + j]) : Score(0);
  }
}
/// What these columns add to the distances of the thread's row.
__device__ __forceinline__ void add_columns(const Stage& from, Score (&distance)[policy.candidates]) {
#pragma unroll
  for (int c = 0; c < columns; c += together) {
    const Scores mine = *reinterpret_cast<const Scores*>(&from.rows[threadIdx.x][c]);
#pragma unroll
    for (int q = 0; q < policy.candidates; ++q) {
      const Scores other = *reinterpret_cast<const Scores*>(&from.candidates[q][c]);
#pragma unroll
      for (int p = 0; p < together; ++p) {
        const Score difference = mine.part[p] - other.part[p];
        distance[q] = madd(difference, difference, distance[q]);
      }
    }
  }
}
/// What row i adds to the totals.
__device__ __forceinline__ void settle(const Arguments& a, int64 i, const Score (&distance)[policy.candidates],
                                       double (&total)[results]) {
  Score* const squared = static_cast<Score*>(a.squared);
  const double weight = a.weights == nullptr ? 1.0 : a.weights[i];
  Score least = squared[i];
  if constexpr (policy.lower) {
    int found = -1;
#pragma unroll
    for (int q = 0; q < policy.candidates; ++q)
      if (q < a.count && distance[q] < least) least = distance[q], found = q;
    squared[i] = least;
    if (a.nearest != nullptr && found >= 0) a.nearest[i] = a.first_number + found;
    total[0] += weight * static_cast<double>(least);
  } else {
#pragma unroll
    for (int q = 0; q < policy.candidates; ++q)
      total[q] += weight * static_cast<double>(distance[q] < least ? distance[q] : least);
  }
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once()) seed_distances(Arguments a) {
  __shared__ Stage stage;
  const int64 begin = blockIdx.x * a.chunk, end = begin + a.chunk < a.x.count ? begin + a.chunk : a.x.count;
  double total[results] = {};
  for (int64 first = begin; first < end; first += threads) {
    Score distance[policy.candidates] = {};
    for (int j0 = 0; j0 < a.d; j0 += columns) {
      __syncthreads();
      stage_rows(stage, a, first, end, j0);
      stage_candidates(stage, a, j0);
      __syncthreads();
      add_columns(stage, distance);
    }
    if (first + threadIdx.x < end) settle(a, first + threadIdx.x, distance, total);
  }
  leave_totals(total, a.totals + static_cast<int64>(blockIdx.x) * results);
}
