// The best and the second-best score of rows that the lanes of a quad share, and how lanes merge them. Define before:
// `slots` rows of a quad, `index_bits` of a key, `paired` (the label of the second best and the third best are kept,
// too), and `thirds` (the third best is also taken among scores that a lane compares together; otherwise it may be as
// little as the second of these).
#pragma once
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_bounds.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_keys.cuh"

/// The score in a key, from 1 to 2, without the bits that hold its label.
__device__ __forceinline__ float score_of(uint32 key) {
  return __uint_as_float((key >> index_bits & 0x7fffff) | 0x3f800000);
}
/// A lane has two centroids of every eight, and numbers its own. The label, where the first eight begin with
/// `first`.
__device__ __forceinline__ int label_of(uint32 key, int first) {
  const int number = static_cast<int>(key & ((1u << index_bits) - 1));
  return first + number / 2 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + number % 2;
}

/// A lane's results for a row.
struct Row {
  float best, second, squared, rest;
  int label;  // of the best
  float third;
  int other;  // the label of the second best
};
__device__ __forceinline__ Row select(bool first, const Row& a, const Row& b) {
  return {first ? a.best : b.best,  first ? a.second : b.second, first ? a.squared : b.squared,
          first ? a.rest : b.rest,  first ? a.label : b.label,   first ? a.third : b.third,
          first ? a.other : b.other};
}
/// Gap between best and second best up to which nothing is decided. Origins and scores were rounded to units, which are
/// 2^-23 here.
__device__ __forceinline__ float undecided_within(const Bound& bound, const Row& row, float per_unit) {
  float gap = __fmaf_rn(bound.by_norm, norm_of(row.squared), bound.constant);
  if (policy.parts == 1) gap = __fmaf_rn(bound.by_rest, norm_of(row.rest), gap);
  return __fmaf_rn(gap, per_unit, 0x1p-21f);
}
__device__ __forceinline__ void insert(Row& row, float score, int label) {
  const bool first = score < row.best, next = score < row.second;
  row.third = fminf(row.third, next ? row.second : score);
  row.other = first ? row.label : next ? label : row.other;
  row.second = first ? row.best : next ? score : row.second;
  row.label = first ? label : row.label;
  row.best = first ? score : row.best;
}
/// Merges results for other centroids into those of the same row.
__device__ __forceinline__ void also(Row& row, const Row& found) {
  if (paired) {
    insert(row, found.best, found.label);
    insert(row, found.second, found.other);
    row.third = fminf(row.third, found.third);
  } else {
    row.second = fminf(fminf(row.second, found.second), fmaxf(row.best, found.best));
    if (found.best < row.best) row.label = found.label;
    row.best = fminf(row.best, found.best);
  }
}
/// The best scores of a lane's columns for each slot.
struct Best {
  uint32 best[slots], second[slots], third[slots];  // the last if `thirds`

  __device__ __forceinline__ Best() {
#pragma unroll
    for (int s = 0; s < slots; ++s) best[s] = second[s] = third[s] = ~0u;
  }
  __device__ __forceinline__ void add(int s, uint32 a, uint32 b) {
    if (thirds)
      take(a, b, best[s], second[s], third[s]);
    else
      take(a, b, best[s], second[s]);
  }
  __device__ __forceinline__ Row of(int s, int first) const {
    return {score_of(best[s]),
            score_of(second[s]),
            0,
            0,
            label_of(best[s], first),
            score_of(thirds ? third[s] : second[s]),
            label_of(second[s], first)};
  }
};
/// Receives from the lane that differs in `bit`, or from the lane `lane`.
struct FromPartner {
  int bit;
  template <class T>
  __device__ __forceinline__ T operator()(T x) const {
    return __shfl_xor_sync(everyone, x, bit);
  }
};
struct FromLane {
  int lane;
  template <class T>
  __device__ __forceinline__ T operator()(T x) const {
    return __shfl_sync(everyone, x, lane);
  }
};
/// The results that another lane has for a row, as many as are used.
template <class Shuffle>
__device__ __forceinline__ Row received(const Row& sent, const Shuffle& shuffle) {
  Row row = {shuffle(sent.best), shuffle(sent.second), shuffle(sent.squared), 0, shuffle(sent.label), 0, 0};
  if (policy.parts == 1) row.rest = shuffle(sent.rest);
  if (paired) row.third = shuffle(sent.third), row.other = shuffle(sent.other);
  return row;
}
/// Merges `mine` with the results for the same row of the lane that differs in `bit`, which it sends as its `sent`.
__device__ __forceinline__ Row merge(Row mine, const Row& sent, int bit) {
  const Row other = received(sent, FromPartner{bit});
  also(mine, other);
  mine.squared += other.squared, mine.rest += other.rest;
  return mine;
}
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_collect.cuh"

/// Gathers what a quad found: of slots 4 word .. 4 word + 3, slot t goes to lane t; of two slots, to the lanes 0 .. 15.
__device__ __forceinline__ Row collect(const Row (&row)[slots], int word) {
  if constexpr (slots > 2) {
    return collect_four(row + 4 * word);
  } else {
    const int lane = threadIdx.x % 32;
    const bool odd = (lane & 1) != 0;
    const Row zero = merge(row[0], row[0], 2), one = merge(row[1], row[1], 2);
    return received(merge(select(odd, one, zero), select(odd, zero, one), 1), FromLane{lane / 2 * 4 % 32 + lane % 2});
  }
}
