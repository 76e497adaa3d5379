// The exact label of a row: the nearest centroid by direct differences in float64, and in twofold float64 among those that
// are closer to it than rounding; the lowest number among equals. A warp takes a row, its lanes the centroids.
#pragma once
#include "assign_rows.cuh"

struct Centroids {
  const double* columns;     // d x padded: (c shrink) by columns
  const float* half_norms;   // of padded centroids; `never` or more for a copy of an earlier one
  int count, padded, cols;
  double shrink, factor;     // rows are multiplied by shrink, differences by factor
};

constexpr float never = 1e30f;
constexpr unsigned everyone = 0xffffffffu;
constexpr int warps = 8;

/// high + low, exactly (Dekker 1971, Knuth 1969).
struct Twofold {
  double high, low;
};
__device__ __forceinline__ Twofold two_sum(double a, double b) {
  const double s = __dadd_rn(a, b), t = __dsub_rn(s, a);
  return {s, __dadd_rn(__dsub_rn(a, __dsub_rn(s, t)), __dsub_rn(b, t))};
}
__device__ __forceinline__ Twofold add(Twofold a, Twofold b) {
  const Twofold s = two_sum(a.high, b.high);
  return two_sum(s.high, __dadd_rn(s.low, __dadd_rn(a.low, b.low)));
}
__device__ __forceinline__ Twofold square(Twofold a) {
  const double p = __dmul_rn(a.high, a.high);
  const double rest = __fma_rn(a.high, a.high, -p);
  return two_sum(p, __fma_rn(__dmul_rn(2, a.high), a.low, rest));
}
/// The leading part of a - b.
__device__ __forceinline__ double minus(Twofold a, Twofold b) {
  return add(a, {-b.high, -b.low}).high;
}

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

/// Lanes look at the centroids first, first + stride ...
__device__ __forceinline__ int exact_label(const Centroids& c, const Rows& x, int64 i, int first, int stride) {
  double best = __longlong_as_double(0x7ff0000000000000ll), second = best;
  int which = 0x7fffffff;
  for (int m = first; m < c.count; m += stride) {
    if (c.half_norms[m] >= never) continue;
    const double found = distance(c, x, i, m);
    second = fmin(second, fmax(best, found));
    if (found < best) best = found, which = m;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(everyone, best, step), other_second = __shfl_xor_sync(everyone, second, step);
    const int other_which = __shfl_xor_sync(everyone, which, step);
    second = fmin(fmin(second, other_second), fmax(best, other));
    if (other < best || (other == best && other_which < which)) best = other, which = other_which;
  }
  const double limit = __dmul_rn(best, __dadd_rn(1, __dmul_rn(c.cols + 3, 0x1p-51)));
  if (second > limit) return which;

  const double infinity = __longlong_as_double(0x7ff0000000000000ll);
  Twofold least = {infinity, 0};
  for (int m = first; m < c.count; m += stride) {
    if (c.half_norms[m] >= never || distance(c, x, i, m) > limit) continue;
    const Twofold found = twofold_distance(c, x, i, m);
    if (least.high == infinity || minus(found, least) < 0) least = found;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const Twofold other = {__shfl_xor_sync(everyone, least.high, step), __shfl_xor_sync(everyone, least.low, step)};
    if (least.high == infinity || (other.high != infinity && minus(other, least) < 0)) least = other;
  }
  // What differs by less than rounding may have done is equal.
  const double tie = __dmul_rn(__dmul_rn(c.cols + 3, 0x1p-100), least.high);
  which = 0x7fffffff;
  for (int m = first; m < c.count && which == 0x7fffffff; m += stride) {
    if (c.half_norms[m] >= never || distance(c, x, i, m) > limit) continue;
    if (minus(twofold_distance(c, x, i, m), least) <= tie) which = m;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) which = min(which, __shfl_xor_sync(everyone, which, step));
  return which;
}
