// Labels of rows whose products with all centroids a library has computed. Eight lanes share a row and keep its best
// three scores. Rows that these do not decide are left to exact distances: with the only two centroids that can be
// nearest, or with a list of at most `most_candidates`, found by a second look at the row's products; rows with more
// are marked as undecided.
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_settle.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/policy.hpp"

constexpr bool paired = true, thirds = true;
constexpr int slots = 1, index_bits = 0, rows_at_once = 4, lanes_of_row = 32 / rows_at_once;
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_best.cuh"

using Arguments = ts::cuda::ScoresArguments;

/// A score from 1 to 2: all of them lie in one binade.
__device__ __forceinline__ float score_at(const float* products, const float* origins, int m) {
  return score_of(__float_as_uint(__ldg(origins + m) + products[m]));
}

/// What the lanes of a row find of it. @param products of the row; null for no row
__device__ __forceinline__ Row best_of(const float* products, const float* origins, int padded) {
  Row row = {3e30f, 3e30f, 0, 0, 0, 3e30f, 0};
  if (products != nullptr)
#pragma unroll 4
    for (int m = 4 * (static_cast<int>(threadIdx.x) % lanes_of_row); m < padded; m += 4 * lanes_of_row) {
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
  for (int bit = 1; bit < lanes_of_row; bit *= 2) row = merge(row, row, bit);
  return row;
}

/// By a whole warp: lists the centroids of a row whose scores are within `open` of the best. Returns their place among
/// lists; -1 where there is none for them.
__device__ __forceinline__ int list_candidates(const ts::cuda::CandidatesArgument& to, const float* products,
                                               const float* origins, int padded, float best, float open) {
  const int lane = threadIdx.x % 32;
  int place = 0;
  if (lane == 0) place = atomicAdd(to.counts + to.positions, 1);
  place = __shfl_sync(everyone, place, 0);
  if (place >= to.positions) return -1;
  int found = 0;
  for (int base = 0; base < padded && found <= ts::cuda::most_candidates; base += 32) {
    const bool near = base + lane < padded && score_at(products, origins, base + lane) - best <= open;
    const uint32 all = __ballot_sync(everyone, near);
    const int at = found + __popc(all & ((1u << lane) - 1));
    if (near && at < ts::cuda::most_candidates) to.numbers[place * ts::cuda::most_candidates + at] = base + lane;
    found += __popc(all);
  }
  if (lane == 0) to.counts[place] = found;
  return found <= ts::cuda::most_candidates ? place : -1;
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_minima(ts::cuda::MinimaArguments of) {
  const Arguments& a = of.all;
  Settle settle{a.x, a.selection, a.sums, a.labels, a.undecided, nullptr};
  // Nothing is known of the order in which a library adds up: each sum may be rounded as often as there are steps.
  const Bound bound = bound_of_parts(*a.largest, policy.d, 1, policy.steps, policy.steps);
  const int lane = threadIdx.x % 32;
  const auto products = [&](int64 row) { return of.products + row * of.padded; };
  for (int64 first = (static_cast<int64>(blockIdx.x) * policy.warps + threadIdx.x / 32) * policy.rows; first < of.count;
       first += static_cast<int64>(gridDim.x) * policy.warps * policy.rows) {
    Row all;
#pragma unroll
    for (int round = 0; round < policy.rows / rows_at_once; ++round) {
      const int64 row = first + round * rows_at_once + lane / lanes_of_row;
      const Row found = best_of(row < of.count ? products(row) : nullptr, a.origins, of.padded);
      const Row told = received(found, FromLane{lane % rows_at_once * lanes_of_row});
      if (round == 0 || lane / rows_at_once == round) all = told;
    }
    const bool real = lane < policy.rows && first + lane < of.count;
    const int64 mine = real ? of.first + first + lane : -1;
    all.squared = real ? of.squares[2 * (first + lane)] : 0, all.rest = real ? of.squares[2 * (first + lane) + 1] : 0;
    const float open = open_within(bound, all, a.per_unit);
    const bool certain = all.second - all.best > open, two = !certain && all.third - all.best > open;
    int place = -1;
    if (!policy.fast)
      for (uint32 left = __ballot_sync(everyone, real && !certain && !two); left != 0; left &= left - 1) {
        const int turn = __ffs(left) - 1;
        const int found = list_candidates(a.candidates, products(first + turn), a.origins, of.padded,
                                          __shfl_sync(everyone, all.best, turn), __shfl_sync(everyone, open, turn));
        if (lane == turn) place = found;
      }
    if (!policy.fast) {
      if (real) a.pairs.of_row[mine] = two ? Pair{all.label, all.other} : Pair{place < 0 ? -1 : -2 - place, -1};
      settle.mark<16>(a.pairs.marks, of.first + first, real && (two || place >= 0));
    }
    settle.settle<16>(of.first + first, mine, settle.before(mine), all.label, certain, !certain && !two && place < 0);
  }
  settle.end(a.counts);
}
