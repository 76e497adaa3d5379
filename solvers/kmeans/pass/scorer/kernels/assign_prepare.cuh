// Prepares centroids for a pass, a warp a centroid:
//  - by columns in float64, for exact distances;
//  - shifted, scaled and negated for scores: in float32 by groups of four, or split into two float16 parts in the order
//    of tensor fragments, or chunk by chunk, part by part, the eights of columns of all its centroids;
//  - half their squared norms, and the origins of scores, also for rows that are neither shifted nor scaled;
//  - the largest norms, from which bounds on rounding errors follow, and the number of copies.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/warp.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_bounds.cuh"

using Arguments = ts::cuda::PrepareArguments;
constexpr int chunk = policy.chunk == 0 ? 1 : policy.chunk;
constexpr unsigned everyone = 0xffffffffu;
constexpr int warps = policy.threads / 32;

__device__ __forceinline__ unsigned short half_of(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

/// True if centroid m equals an earlier one; `first` has the first column of all, side by side.
__device__ __forceinline__ bool is_copy(const double* centroids, const double* first, int m) {
  bool found = false;
  const double own = first[m];
  for (int other = threadIdx.x % 32; other < m && !found; other += 32) {
    if (first[other] != own) continue;
    int j = 1;
    while (j < policy.d &&
           centroids[static_cast<int64>(other) * policy.d + j] == centroids[static_cast<int64>(m) * policy.d + j])
      ++j;
    found = j == policy.d;
  }
  return __any_sync(everyone, found);
}

/// A bit for each warp's centroid, from `begin` on, that an earlier one equals in the first column and two others. All
/// threads compare earlier ones together, so that each number is read once for all warps of the block.
__device__ __forceinline__ unsigned may_be_copies(const double* centroids, const double* first, int begin, int count) {
  __shared__ unsigned bits;
  if (threadIdx.x == 0) bits = 0;
  __syncthreads();
  const auto agree = [&](int a, int b, int j) {
    return centroids[static_cast<int64>(a) * policy.d + j] == centroids[static_cast<int64>(b) * policy.d + j];
  };
  double own[warps];
#pragma unroll
  for (int w = 0; w < warps; ++w) own[w] = first[min(begin + w, count - 1)];
  unsigned found = 0;
#pragma unroll 4
  for (int other = threadIdx.x; other < min(begin + warps, count); other += policy.threads) {
    const double value = first[other];
#pragma unroll
    for (int w = 0; w < warps; ++w)
      if (value == own[w] && other < begin + w && begin + w < count && agree(other, begin + w, policy.d / 2) &&
          agree(other, begin + w, policy.d - 1))
        found |= 1u << w;
  }
  if (found != 0) atomicOr(&bits, found);
  __syncthreads();
  return bits;
}

/// Position of column j of a centroid in chunks that have upper parts and one more step (assign_confirm.cuh).
__device__ __forceinline__ int64 confirming_at(int m, int j) {
  return static_cast<int64>(m / chunk) * chunk * (policy.steps + 1) * 16 + (j / 8 * chunk + m % chunk) * 8 + j % 8;
}

/// Squared norms of a centroid, shifted and scaled, of its lower part, and of what both leave; and its product with the
/// shift.
struct CentroidNorms {
  double norm = 0, low = 0, rest = 0, offset = 0;
};

/// Column j of centroid m, negated, in two parts.
__device__ __forceinline__ void put_parts(const Arguments& a, int m, int j, double negated, CentroidNorms& sums) {
  const unsigned short high = half_of(static_cast<float>(negated));
  const double rest = negated - widen(Half{high});
  const unsigned short low = half_of(static_cast<float>(rest));
  sums.low += static_cast<double>(widen(Half{low})) * widen(Half{low});
  const double lost = rest - widen(Half{low});
  sums.rest += lost * lost;
  int64 at, part;
  if constexpr (policy.chunk == 0) {
    // Lane 4 (m % 8) + t of an instruction's 16 columns takes the columns 4t .. 4t + 3.
    at = ((static_cast<int64>(m / 8) * policy.steps + j / 16) * 32 + m % 8 * 4 + j % 16 / 4) * 4 + j % 4;
    part = static_cast<int64>(a.padded) * policy.steps * 16;
  } else {
    part = chunk * policy.steps * 16;
    at = m / chunk * 2 * part + (j / 8 * chunk + m % chunk) * 8 + j % 8;
  }
  unsigned short* const to = static_cast<unsigned short*>(a.negated) + at;
  to[0] = high, to[part] = low;
  if (a.plain != nullptr) a.plain[static_cast<int64>(m) * policy.steps * 16 + j] = high;
  if constexpr (policy.chunk != 0)
    if (a.confirming != nullptr) static_cast<unsigned short*>(a.confirming)[confirming_at(m, j)] = high;
}

/// The columns of centroid m by which its origin is added and a row's limit taken away (assign_confirm.cuh).
__device__ __forceinline__ void put_origin(unsigned short* confirming, int m, double origin) {
  const int lane = threadIdx.x % 32;
  unsigned short part[3];
#pragma unroll
  for (int p = 0; p < 3; ++p) part[p] = half_of(static_cast<float>(origin)), origin -= widen(Half{part[p]});
  const unsigned short of_origin = lane == 0 ? part[0] : lane == 1 ? part[1] : part[2];
  if (lane < 16)
    confirming[confirming_at(m, 16 * policy.steps + lane)] = lane < 3 ? of_origin : lane < 6 ? half_of(-1) : 0;
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_prepare(ts::cuda::PrepareArguments a) {
  const int warp = threadIdx.x / 32, m = blockIdx.x * warps + warp, lane = threadIdx.x % 32;
  const bool may = (may_be_copies(a.centroids, a.first, blockIdx.x * warps, a.count) >> warp & 1) != 0;
  if (m >= a.padded) return;
  const bool copy = m < a.count && may && is_copy(a.centroids, a.first, m), counts = m < a.count && !copy;
  const double* const centroid = a.centroids + static_cast<int64>(m) * policy.d;
  for (int j = lane; j < policy.d; j += 32)
    a.columns[static_cast<int64>(j) * a.padded + m] = m < a.count ? centroid[j] * a.shrink : 0.0;
  CentroidNorms sums;
  for (int j = lane; j < (policy.steps != 0 ? 16 * policy.steps : policy.d); j += 32) {
    double c = 0;
    if (counts && j < policy.d) c = (centroid[j] - a.shift[j]) * a.scale;
    sums.norm += c * c;
    if (counts && j < policy.d) sums.offset += a.shift[j] * a.scale * c;
    if constexpr (policy.steps != 0)
      put_parts(a, m, j, -c, sums);
    else if (a.negated != nullptr)
      static_cast<float*>(a.negated)[(static_cast<int64>(m / 4) * policy.d + j) * 4 + m % 4] = static_cast<float>(-c);
  }
  const double norm = sum_of_warp(sums.norm), low = sum_of_warp(sums.low), rest = sum_of_warp(sums.rest),
               offset = sum_of_warp(sums.offset);
  if constexpr (policy.steps != 0 && policy.chunk != 0)
    if (a.confirming != nullptr) put_origin(static_cast<unsigned short*>(a.confirming), m, counts ? norm / 2 : 60000);
  if (lane != 0) return;
  a.half_norms[m] = counts ? static_cast<float>(norm / 2) : 2e30f;
  // The score of a centroid that must not be the nearest is in the binade of all scores, but behind them.
  a.origins[m] = static_cast<float>(counts ? a.origin + norm / 2 : 1.33 * a.origin);
  if (a.plain_origins != nullptr)
    a.plain_origins[m] = static_cast<float>((counts ? a.origin + norm / 2 + offset : 1.33 * a.origin) / a.scale);
  if (!counts) return;
  largest_of(&a.largest->norm, sqrt(norm));
  largest_of(&a.largest->low, sqrt(low));
  largest_of(&a.largest->rest, sqrt(rest));
}
