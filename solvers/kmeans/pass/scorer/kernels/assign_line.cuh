// Labels of rows of one column. A search among sorted centroids finds the two on either side of a row. These, and those
// as near up to rounding, are compared as assign_decide compares all. The same bits as on a host (scorer/line.cpp).
#include "tallskinny/gemm/device/twofold.cuh"
#include "tallskinny/solvers/kmeans/pass/sums/kernels/sums_moves.cuh"

using Line = ts::cuda::LineArguments;
constexpr unsigned everyone = 0xffffffffu;

/// The squared distance of x, already multiplied by a.shrink, to the centroid at place p.
__device__ __forceinline__ double distance(const Line& a, double x, int p) {
  return add_square(0, x, __dmul_rn(a.values[p], a.shrink), a.factor);
}
__device__ __forceinline__ Twofold twofold_distance(const Line& a, double x, int p) {
  const Twofold difference = two_sum(x, -__dmul_rn(a.values[p], a.shrink));
  return square({__dmul_rn(difference.high, a.factor), __dmul_rn(difference.low, a.factor)});
}

/// Among the places begin .. end - 1 the lowest number of those that are nearest to x.
__device__ int lowest_of_nearest(const Line& a, double x, int begin, int end) {
  Twofold least = twofold_distance(a, x, begin);
  for (int p = begin + 1; p < end; ++p) {
    const Twofold other = twofold_distance(a, x, p);
    if (minus(other, least) < 0) least = other;
  }
  const double tie = __dmul_rn(4 * 0x1p-100, least.high);
  int label = 0x7fffffff;
  for (int p = begin; p < end; ++p)
    if (a.numbers[p] < label && !(minus(twofold_distance(a, x, p), least) > tie)) label = a.numbers[p];
  return label;
}

/// The label of a row, and whether several centroids are as near as rounding.
struct Found {
  int label;
  bool several;
};
__device__ __forceinline__ Found find(const Line& a, double row) {
  int above = 0;  // the first centroid that is not less
  for (int count = a.count; count > 0;) {
    const int half = count / 2;
    const bool less = a.values[above + half] < row;
    above += less ? half + 1 : 0;
    count = less ? count - half - 1 : half;
  }
  const double x = __dmul_rn(row, a.shrink);
  double least = __longlong_as_double(0x7ff0000000000000ll);
  if (above < a.count) least = distance(a, x, above);
  if (above > 0) least = fmin(least, distance(a, x, above - 1));
  const double limit = __dmul_rn(least, 1 + 4 * 0x1p-51);
  int begin = above, end = above;
  while (begin > 0 && !(distance(a, x, begin - 1) > limit)) --begin;
  while (end < a.count && !(distance(a, x, end) > limit)) ++end;
  if (end - begin == 1) return {a.numbers[begin], false};
  return {lowest_of_nearest(a, x, begin, end), true};
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_line(ts::cuda::LineArguments a) {
  uint64 changed = 0, several = 0;
  const int64 step = static_cast<int64>(gridDim.x) * policy.threads;
  for (int64 first = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x / 32 * 32; first < a.x.count;
       first += step) {
    const int64 row = first + threadIdx.x % 32;
    const bool real = row < a.x.count;
    const int before = real ? a.labels[row] : -1;
    const Found found = real ? find(a, value(a.x, row, 0)) : Found{-1, false};
    const uint32 moving = __ballot_sync(everyone, found.label != before);
    several += __popc(__ballot_sync(everyone, found.several));
    if (moving == 0) continue;
    changed += __popc(moving);
    if (a.sums.upper != nullptr) list_moves(a.sums.moves, row, before, moving);
    if (found.label != before) a.labels[row] = found.label;
  }
  if (threadIdx.x % 32 != 0) return;
  if (changed != 0) atomicAdd(&a.counts->changed, changed);
  if (several != 0) atomicAdd(&a.counts->rescored, several);
}
