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

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once())
    seed_distances(ts::cuda::SeedDistancesArguments a) {
  const auto& [x, d, candidates, count, shift, scale, chunk, of_rows, weights, nearest, first_number, totals] = a;
  Score* const squared = static_cast<Score*>(of_rows);
  __shared__ __align__(16) Score rows[threads][columns + together];
  __shared__ __align__(16) Score others[policy.candidates][columns];
  __shared__ double sums[results][threads / 32];
  const int thread = threadIdx.x;
  const int64 begin = blockIdx.x * chunk, end = begin + chunk < x.count ? begin + chunk : x.count;
  const bool by_rows = x.column_stride == 1;
  double total[results] = {};
  for (int64 first = begin; first < end; first += threads) {
    const int64 i = first + thread;
    Score distance[policy.candidates] = {};
    for (int j0 = 0; j0 < d; j0 += columns) {
      __syncthreads();
      const auto put = [&](int r, int c, const Element* from, double shifted) {
        Score v = 0;
        if (first + r < end && j0 + c < d)
          v = coordinate(*from, x.scale == nullptr ? nullptr : x.scale + first + r, shifted, scale);
        rows[r][c] = v;
      };
      if (by_rows) {  // lanes side by side load elements side by side
        constexpr int step = threads / columns;
        const int c = thread % columns;
        const double shifted = j0 + c < d ? shift[j0 + c] : 0;
        const Element* from = row_of(x, first + thread / columns) + j0 + c;
#pragma unroll 8
        for (int r = thread / columns; r < threads; r += step, from += step * x.row_stride) put(r, c, from, shifted);
      } else {
        const Element* from = row_of(x, first + thread) + j0 * x.column_stride;
#pragma unroll 4
        for (int c = 0; c < columns; ++c, from += x.column_stride) put(thread, c, from, j0 + c < d ? shift[j0 + c] : 0);
      }
      for (int e = thread; e < policy.candidates * columns; e += threads) {
        const int q = e / columns, j = j0 + e % columns;
        others[q][e % columns] =
            q < count && j < d ? static_cast<Score>(candidates[static_cast<int64>(q) * d + j]) : Score(0);
      }
      __syncthreads();
#pragma unroll
      for (int c = 0; c < columns; c += together) {
        const Scores mine = *reinterpret_cast<const Scores*>(&rows[thread][c]);
#pragma unroll
        for (int q = 0; q < policy.candidates; ++q) {
          const Scores other = *reinterpret_cast<const Scores*>(&others[q][c]);
#pragma unroll
          for (int p = 0; p < together; ++p) {
            const Score difference = mine.part[p] - other.part[p];
            distance[q] = madd(difference, difference, distance[q]);
          }
        }
      }
    }
    if (i >= end) continue;
    const double weight = weights == nullptr ? 1.0 : weights[i];
    Score least = squared[i];
    if constexpr (policy.lower) {
      int found = -1;
#pragma unroll
      for (int q = 0; q < policy.candidates; ++q)
        if (q < count && distance[q] < least) least = distance[q], found = q;
      squared[i] = least;
      if (nearest != nullptr && found >= 0) nearest[i] = first_number + found;
      total[0] += weight * static_cast<double>(least);
    } else {
#pragma unroll
      for (int q = 0; q < policy.candidates; ++q)
        total[q] += weight * static_cast<double>(distance[q] < least ? distance[q] : least);
    }
  }
#pragma unroll
  for (int q = 0; q < results; ++q) {
#pragma unroll
    for (int far = 16; far > 0; far /= 2) total[q] += __shfl_xor_sync(~0u, total[q], far);
    if (thread % 32 == 0) sums[q][thread / 32] = total[q];
  }
  __syncthreads();
  if (thread >= results) return;
  double sum = 0;
  for (int w = 0; w < threads / 32; ++w) sum += sums[thread][w];
  totals[static_cast<int64>(blockIdx.x) * results + thread] = sum;
}
