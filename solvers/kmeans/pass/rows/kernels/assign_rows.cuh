// Rows as float64 numbers, distances by direct differences, and selections of rows. All of it gives the bits of the
// host's code, so nothing is contracted here.
#pragma once
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/solvers/kmeans/pass/rows/arguments.hpp"

using Rows = ts::cuda::RowsArgument;
using Selection = ts::cuda::Selection;

__device__ __forceinline__ const Element* row_of(const Rows& x, int64 i) {
  return static_cast<const Element*>(x.data) + i * x.row_stride;
}
/// x_ij in float64.
__device__ __forceinline__ double value(const Rows& x, int64 i, int j) {
  const double wide = widen(row_of(x, i)[j * x.column_stride]);
  return x.scale == nullptr ? wide : __dmul_rn(wide, x.scale[i]);
}

/// sum + ((x - c) factor)^2
__device__ __forceinline__ double add_square(double sum, double x, double c, double factor) {
  const double difference = __dmul_rn(__dsub_rn(x, c), factor);
  return __dadd_rn(sum, __dmul_rn(difference, difference));
}
/// sum_j ((x_j - c_j) factor)^2 in eight partial sums; x(j) and c(j) give the numbers.
template <class X, class C>
__device__ __forceinline__ double squared_distance(int d, double factor, const X& x, const C& c) {
  double part[8] = {};
  int j = 0;
#pragma unroll 2
  for (; j + 8 <= d; j += 8)
#pragma unroll
    for (int q = 0; q < 8; ++q) part[q] = add_square(part[q], x(j + q), c(j + q), factor);
#pragma unroll
  for (int q = 0; q < 8; ++q)
    if (j + q < d) part[q] = add_square(part[q], x(j + q), c(j + q), factor);
  return __dadd_rn(__dadd_rn(__dadd_rn(part[0], part[1]), __dadd_rn(part[2], part[3])),
                   __dadd_rn(__dadd_rn(part[4], part[5]), __dadd_rn(part[6], part[7])));
}

/// Number of selected rows, and the row at a position among them.
__device__ __forceinline__ int64 count_of(const Selection& selection, const Rows& x) {
  return selection.list == nullptr ? x.count : static_cast<int64>(*selection.listed);
}
__device__ __forceinline__ int64 row_at(const Selection& selection, int64 position) {
  return selection.list == nullptr ? position : selection.list[position];
}

/// The bits of a word of marks, one for each position, for positions below `count`.
__device__ __forceinline__ uint32 marks_below(int64 count, int64 word) {
  const int64 left = count - 32 * word;
  return left >= 32 ? ~0u : left <= 0 ? 0u : (1u << left) - 1;
}
