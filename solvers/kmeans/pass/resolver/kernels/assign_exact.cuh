// The exact label of a row: the nearest centroid by direct differences in float64, and in twofold float64 among
// those that are closer to it than rounding; the lowest number among equals. A warp takes a row, its lanes the
// centroids.
#pragma once
#include "tallskinny/gemm/device/twofold.cuh"
#include "tallskinny/solvers/kmeans/pass/resolver/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"

using Centroids = ts::cuda::CentroidsArgument;
using Pair = ts::cuda::Pair;

constexpr float never = 1e30f;
constexpr unsigned everyone = 0xffffffffu;
constexpr int warps = policy.threads / 32;

/// ||x - c_m||^2 of the centroid with the number m.
__device__ __forceinline__ double distance(const Centroids& c, const Rows& x, int64 i, int m) {
  return squared_distance(
      c.cols, c.factor, [&](int j) { return __dmul_rn(value(x, i, j), c.shrink); },
      [&](int j) { return c.columns[static_cast<int64>(j) * c.padded + m]; });
}
__device__ __forceinline__ Twofold twofold_distance(const Centroids& c, const Rows& x, int64 i, int m) {
  Twofold sum = {0, 0};
  for (int j = 0; j < c.cols; ++j) {
    Twofold difference = two_sum(__dmul_rn(value(x, i, j), c.shrink), -c.columns[static_cast<int64>(j) * c.padded + m]);
    difference.high = __dmul_rn(difference.high, c.factor), difference.low = __dmul_rn(difference.low, c.factor);
    sum = add(sum, square(difference));
  }
  return sum;
}

/// A distance above this is certainly larger than `nearest`, whatever rounding did.
__device__ __forceinline__ double rounded_beyond(const Centroids& c, double nearest) {
  return __dmul_rn(nearest, __dadd_rn(1, __dmul_rn(c.cols + 3, 0x1p-51)));
}

/// The nearest of some centroids, and how far the next one is.
struct Nearest {
  double best, second;
  int which;
};
__device__ __forceinline__ Nearest from_lane(const Nearest& x, int step) {
  return {__shfl_xor_sync(everyone, x.best, step), __shfl_xor_sync(everyone, x.second, step),
          __shfl_xor_sync(everyone, x.which, step)};
}
__device__ __forceinline__ Twofold from_lane(const Twofold& x, int step) {
  return {__shfl_xor_sync(everyone, x.high, step), __shfl_xor_sync(everyone, x.low, step)};
}
__device__ __forceinline__ int from_lane(int x, int step) { return __shfl_xor_sync(everyone, x, step); }

/// Threads that find a label together: a warp, or a whole block, whose warps meet in shared memory.
template <bool Block>
struct Team {
  static constexpr int size = Block ? 32 * warps : 32;
  static __device__ __forceinline__ int rank() { return threadIdx.x % size; }

  template <class T, class Merge>
  static __device__ __forceinline__ T together(T mine, const Merge& merge) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) mine = merge(mine, from_lane(mine, step));
    if (!Block) return mine;
    __shared__ T of_warp[warps];
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    T all = of_warp[0];
#pragma unroll 1
    for (int w = 1; w < warps; ++w) all = merge(all, of_warp[w]);
    __syncthreads();
    return all;
  }
};

/// Centroids to choose from: all, or those of a list, which may have numbers of none.
struct Choice {
  const int* numbers;
  int count;
  __device__ __forceinline__ int at(int place) const { return numbers == nullptr ? place : numbers[place]; }
};

/// A thread of the team takes the places first, first + stride ... of those to choose from.
template <class Together>
__device__ __forceinline__ int exact_label(const Centroids& c, const Rows& x, int64 i, const Choice& of, int first,
                                           int stride) {
  const double infinity = __longlong_as_double(0x7ff0000000000000ll);
  constexpr int none = 0x7fffffff;
  Nearest near = {infinity, infinity, none};
  const auto real = [&](int m) { return m < c.count && c.half_norms[m] < never; };
  for (int place = first; place < of.count; place += stride) {
    const int m = of.at(place);
    if (!real(m)) continue;
    const double found = distance(c, x, i, m);
    near.second = fmin(near.second, fmax(near.best, found));
    if (found < near.best || (found == near.best && m < near.which)) near.best = found, near.which = m;
  }
  near = Together::together(near, [](const Nearest& a, const Nearest& b) {
    const bool other = b.best < a.best || (b.best == a.best && b.which < a.which);
    return Nearest{other ? b.best : a.best, fmin(fmin(a.second, b.second), fmax(a.best, b.best)),
                   other ? b.which : a.which};
  });
  const double limit = rounded_beyond(c, near.best);
  if (near.second > limit) return near.which;

  Twofold least = {infinity, 0};
  for (int place = first; place < of.count; place += stride) {
    const int m = of.at(place);
    if (!real(m) || distance(c, x, i, m) > limit) continue;
    const Twofold found = twofold_distance(c, x, i, m);
    if (least.high == infinity || minus(found, least) < 0) least = found;
  }
  least = Together::together(least, [infinity](const Twofold& a, const Twofold& b) {
    return a.high == infinity || (b.high != infinity && minus(b, a) < 0) ? b : a;
  });
  // Distances that differ by less than the bound of rounding are equal.
  const double tie = __dmul_rn(__dmul_rn(c.cols + 3, 0x1p-100), least.high);
  int which = none;
  for (int place = first; place < of.count; place += stride) {
    const int m = of.at(place);
    if (m >= which || !real(m) || distance(c, x, i, m) > limit) continue;
    if (minus(twofold_distance(c, x, i, m), least) <= tie) which = m;
  }
  return Together::together(which, [](int a, int b) { return min(a, b); });
}

/// Decides between two centroids with half a warp, while the other half has another row. Eight lanes have a partial sum
/// of a distance each, in the order of `squared_distance`.
__device__ __forceinline__ int exact_label_of_pair(const Centroids& c, const Rows& x, int64 i, Pair pair) {
  constexpr int at_once = 8;  // loads under way
  const int lane = threadIdx.x % 32, half = lane & 16;
  const double* const centroid = c.rows + static_cast<int64>(lane / 8 % 2 == 0 ? pair.first : pair.second) * c.cols;
  double part = 0;
#pragma unroll 1
  for (int begin = lane % 8; begin < c.cols; begin += 8 * at_once) {
    double from[at_once], to[at_once];
#pragma unroll
    for (int q = 0; q < at_once; ++q) {
      const int j = begin + 8 * q;
      from[q] = j < c.cols ? value(x, i, j) : 0, to[q] = j < c.cols ? centroid[j] : 0;
    }
#pragma unroll
    for (int q = 0; q < at_once; ++q)  // zeros add nothing
      part = add_square(part, __dmul_rn(from[q], c.shrink), __dmul_rn(to[q], c.shrink), c.factor);
  }
#pragma unroll
  for (int step = 1; step < 8; step *= 2) part = __dadd_rn(part, __shfl_xor_sync(everyone, part, step));
  const double first = __shfl_sync(everyone, part, half), second = __shfl_sync(everyone, part, half + 8);
  const double limit = rounded_beyond(c, fmin(first, second));
  const bool copies = c.half_norms[pair.first] >= never || c.half_norms[pair.second] >= never;
  int label = first < second ? pair.first : pair.second;
  // Distances too close for rounding take a whole warp.
  uint32 left = __ballot_sync(everyone, copies || !(fmax(first, second) > limit)) & 0x10001;
  for (; left != 0; left &= left - 1) {
    const int turn = __ffs(left) - 1;
    const int one = __shfl_sync(everyone, pair.first, turn), other = __shfl_sync(everyone, pair.second, turn);
    const int found = exact_label<Team<false>>(c, x, __shfl_sync(everyone, i, turn), {nullptr, c.count},
                                               lane == 0   ? one
                                               : lane == 1 ? other
                                                           : c.count,
                                               c.count);
    if (half == turn) label = found;
  }
  return label;
}
