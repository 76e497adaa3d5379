// Labels of rows whose products with all centroids a library has computed. A block takes 16 rows, a warp each, and
// keeps the best three scores of each. Rows that these do not decide are left to exact distances: with the only two
// centroids that can be nearest, or with a list of at most `most_candidates`, found by reading the row's products
// again. Rows with more are marked as undecided.
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_labels.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

constexpr bool paired = true, thirds = true;
constexpr int slots = 1, index_bits = 0;
static_assert(policy.rows == policy.warps);
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_best.cuh"

using Arguments = ts::cuda::ScoresArguments;

/// A score from 1 to 2: all of them lie in one binade.
__device__ __forceinline__ float score_at(const float* products, const float* origins, int m) {
  return score_of(__float_as_uint(__ldg(origins + m) + products[m]));
}

/// Finds the best scores of a row with a warp. @param products of the row; null for no row
__device__ __forceinline__ Row best_of(const float* products, const float* origins, int padded) {
  Row row = {3e30f, 3e30f, 0, 0, 0, 3e30f, 0};
  if (products != nullptr)
#pragma unroll 4
    for (int m = 4 * (static_cast<int>(threadIdx.x) % 32); m < padded; m += 128) {
      const float4 product = *reinterpret_cast<const float4*>(products + m);
      const float4 origin = __ldg(reinterpret_cast<const float4*>(origins + m));
      const float score[4] = {origin.x + product.x, origin.y + product.y, origin.z + product.z, origin.w + product.w};
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const float s = score_of(__float_as_uint(score[q]));
        if (s < row.third) insert(row, s, m + q);
      }
    }
#pragma unroll
  for (int bit = 1; bit < 32; bit *= 2) row = merge(row, row, bit);
  return row;
}

/// Lists, by a whole warp, the centroids of a row whose scores exceed the best by at most `within`. Returns their place
/// among lists; -1 where no list is left.
__device__ __forceinline__ int list_candidates(const ts::cuda::CandidatesArgument& to, const float* products,
                                               const float* origins, int padded, float best, float within) {
  const int lane = threadIdx.x % 32;
  int place = 0;
  if (lane == 0) place = atomicAdd(to.counts + to.positions, 1);
  place = __shfl_sync(everyone, place, 0);
  if (place >= to.positions) return -1;
  int found = 0;
  for (int base = 0; base < padded && found <= ts::cuda::most_candidates; base += 32) {
    const bool near = base + lane < padded && score_at(products, origins, base + lane) - best <= within;
    const uint32 all = __ballot_sync(everyone, near);
    const int at = found + __popc(all & ((1u << lane) - 1));
    if (near && at < ts::cuda::most_candidates) to.numbers[place * ts::cuda::most_candidates + at] = base + lane;
    found += __popc(all);
  }
  if (lane == 0) to.counts[place] = found;
  return found <= ts::cuda::most_candidates ? place : -1;
}

/// Outcome of the products of a row.
struct Verdict {
  int label, other;      // of the best and the second best score
  int place;             // of a list of candidates, or -1
  bool certain, of_two;  // the best is nearest; one of both is
};

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_minima(ts::cuda::MinimaArguments of) {
  __shared__ Verdict verdicts[2][policy.rows];  // in turn, so that warps go on while the first one labels rows
  const Arguments& a = of.all;
  LabelWriter writer{a.x, a.selection, a.sums, a.labels, a.undecided, nullptr};
  // Nothing is known of the order in which a library adds up: each sum may be rounded as often as there are steps.
  const Bound bound = bound_of_parts(*a.largest, policy.d, 1, policy.steps, policy.steps);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int turn = 0;
  for (int64 first = static_cast<int64>(blockIdx.x) * policy.rows; first < of.count;
       first += static_cast<int64>(gridDim.x) * policy.rows, turn ^= 1) {
    const int64 i = first + warp;
    const bool real = i < of.count;
    const float* const products = real ? of.products + i * of.padded : nullptr;
    Row row = best_of(products, a.origins, of.padded);
    row.squared = real ? of.squares[2 * i] : 0, row.rest = real ? of.squares[2 * i + 1] : 0;
    const float within = undecided_within(bound, row, a.per_unit);
    Verdict verdict = {row.label, row.other, -1, row.second - row.best > within, false};
    verdict.of_two = !verdict.certain && row.third - row.best > within;
    if (!policy.fast && real && !verdict.certain && !verdict.of_two)
      verdict.place = list_candidates(a.candidates, products, a.origins, of.padded, row.best, within);
    if (lane == 0) verdicts[turn][warp] = verdict;
    __syncthreads();
    if (warp != 0) continue;
    const bool mine = lane < policy.rows && first + lane < of.count;
    const Verdict its = verdicts[turn][lane % policy.rows];
    const int64 number = mine ? of.first + first + lane : -1;
    if (!policy.fast) {
      if (mine)
        a.pairs.of_row[number] =
            its.of_two ? Pair{its.label, its.other} : Pair{its.place < 0 ? -1 : -2 - its.place, -1};
      writer.mark<16>(a.pairs.marks, of.first + first, mine && (its.of_two || its.place >= 0));
    }
    writer.write<16>(of.first + first, number, writer.before(number), its.label, its.certain,
                     !its.certain && !its.of_two && its.place < 0);
  }
  writer.end(a.counts);
}
