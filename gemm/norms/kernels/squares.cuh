// Sums of squares that neither overflow nor lose digits, as column norms are made of.
#pragma once

#include "tallskinny/gemm/device/element.cuh"

/// A sum of squares. Squares of 32-bit numbers and narrower are safe in float64.
struct PlainSum {
  double sum;
  __device__ __forceinline__ void add(float x) {
    const double wide = x;
    sum = madd(wide, wide, sum);
  }
  __device__ __forceinline__ void operator+=(const PlainSum& other) { sum += other.sum; }
  __device__ __forceinline__ double root() const { return sqrt(sum); }
};

/// Squares of float64 numbers are kept in three ranges (Blue 1978; thresholds as in Anderson 2017).
struct RangedSum {
  double small, medium, big;

  static constexpr double big_from = 0x1p486, shrink = 0x1p-538, small_to = 0x1p-511, grow = 0x1p537;

  __device__ __forceinline__ void add(double x) {
    const double size = fabs(x);
    if (size > big_from) {
      const double scaled = size * shrink;
      big = madd(scaled, scaled, big);
    } else if (size < small_to) {
      const double scaled = size * grow;
      small = madd(scaled, scaled, small);
    } else {  // NaN too
      medium = madd(size, size, medium);
    }
  }
  __device__ __forceinline__ void operator+=(const RangedSum& other) {
    small += other.small, medium += other.medium, big += other.big;
  }
  __device__ __forceinline__ double root() const {
    const bool has_medium = !(medium == 0);
    if (big > 0) return sqrt(has_medium ? big + medium * shrink * shrink : big) / shrink;
    if (!(small > 0)) return sqrt(medium);
    const double low = sqrt(small) / grow;
    if (!has_medium) return low;
    const double high = sqrt(medium);  // NaN stays NaN; small's share counts only near the threshold
    return low > high ? low * sqrt(1 + (high / low) * (high / low)) : high * sqrt(1 + (low / high) * (low / high));
  }
};

template <class R>
struct SumOf {
  using type = PlainSum;
};
template <>
struct SumOf<double> {
  using type = RangedSum;
};
using Sum = SumOf<Real>::type;
