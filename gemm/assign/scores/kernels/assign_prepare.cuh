// Centroids made ready for a pass, a warp a centroid: by columns in float64 for exact distances; shifted,
// scaled, negated and for scores in float32 by groups of four, or split into two float16 parts in the order of
// tensor fragments, or chunk by chunk, part by part, the eights of columns of all its centroids; half their
// squared norms, and those beside the origin of all scores, for rows that are neither shifted nor scaled with
// what that would do, too; the largest norms, from which bounds on rounding errors follow; and how many are
// copies.
#include "tallskinny/gemm/assign/scores/kernels/assign_bounds.cuh"
#include "tallskinny/gemm/device/element.cuh"

constexpr int chunk = policy.chunk == 0 ? 1 : policy.chunk;
constexpr unsigned everyone = 0xffffffffu;
constexpr int warps = policy.threads / 32;

__device__ __forceinline__ double sum_of_warp(double x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(everyone, x, step);
  return x;
}
__device__ __forceinline__ unsigned short half_of(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

/// Whether centroid m equals an earlier one; `first` has the first column of all, side by side.
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

/// Where column j of a centroid is in chunks that have upper parts and a step more (assign_confirm.cuh).
__device__ __forceinline__ int64 confirming_at(int m, int j) {
  return static_cast<int64>(m / chunk) * chunk * (policy.steps + 1) * 16 + (j / 8 * chunk + m % chunk) * 8 + j % 8;
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_prepare(ts::cuda::PrepareArguments a) {
  const auto& [centroids, first, count, padded, shift, scale, shrink, origin, columns, half_norms, origins,
               plain_origins, negated, confirming, largest, copies] = a;
  const int m = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (m >= padded) return;
  const bool copy = m < count && is_copy(centroids, first, m), counts = m < count && !copy;
  double norm = 0, low_norm = 0, rest_norm = 0, offset = 0;
  for (int j = lane; j < policy.d; j += 32)
    columns[static_cast<int64>(j) * padded + m] =
        m < count ? centroids[static_cast<int64>(m) * policy.d + j] * shrink : 0.0;
  for (int j = lane; j < (policy.steps != 0 ? 16 * policy.steps : policy.d); j += 32) {
    double c = 0;
    if (counts && j < policy.d) c = (centroids[static_cast<int64>(m) * policy.d + j] - shift[j]) * scale;
    norm += c * c;
    if (counts && j < policy.d) offset += shift[j] * scale * c;
    if constexpr (policy.steps == 0) {
      if (negated != nullptr)
        static_cast<float*>(negated)[(static_cast<int64>(m / 4) * policy.d + j) * 4 + m % 4] = static_cast<float>(-c);
    } else {
      const unsigned short high = half_of(static_cast<float>(-c));
      const double rest = -c - widen(Half{high});
      const unsigned short low = half_of(static_cast<float>(rest));
      low_norm += static_cast<double>(widen(Half{low})) * widen(Half{low});
      const double lost = rest - widen(Half{low});
      rest_norm += lost * lost;
      int64 at, part;
      if constexpr (policy.chunk == 0) {
        // Lane 4 (m % 8) + t of an instruction's 16 columns takes the columns 4t .. 4t + 3.
        at = ((static_cast<int64>(m / 8) * policy.steps + j / 16) * 32 + m % 8 * 4 + j % 16 / 4) * 4 + j % 4;
        part = static_cast<int64>(padded) * policy.steps * 16;
      } else {
        part = chunk * policy.steps * 16;
        at = m / chunk * 2 * part + (j / 8 * chunk + m % chunk) * 8 + j % 8;
      }
      unsigned short* const to = static_cast<unsigned short*>(negated) + at;
      to[0] = high, to[part] = low;
      if constexpr (policy.chunk != 0)
        if (confirming != nullptr) static_cast<unsigned short*>(confirming)[confirming_at(m, j)] = high;
    }
  }
  norm = sum_of_warp(norm), low_norm = sum_of_warp(low_norm), rest_norm = sum_of_warp(rest_norm),
  offset = sum_of_warp(offset);
  if constexpr (policy.steps != 0 && policy.chunk != 0)
    if (confirming != nullptr && lane < 16) {
      double left = counts ? norm / 2 : 60000;
      unsigned short part[3];
#pragma unroll
      for (int p = 0; p < 3; ++p) part[p] = half_of(static_cast<float>(left)), left -= widen(Half{part[p]});
      static_cast<unsigned short*>(confirming)[confirming_at(m, 16 * policy.steps + lane)] =
          lane < 3   ? (lane == 0   ? part[0]
                        : lane == 1 ? part[1]
                                    : part[2])
          : lane < 6 ? half_of(-1)
                     : 0;
    }
  if (lane != 0) return;
  half_norms[m] = counts ? static_cast<float>(norm / 2) : 2e30f;
  // What must not be chosen is still in the binade of all scores, but behind them.
  origins[m] = static_cast<float>(counts ? origin + norm / 2 : 1.33 * origin);
  if (plain_origins != nullptr)
    plain_origins[m] = static_cast<float>((counts ? origin + norm / 2 + offset : 1.33 * origin) / scale);
  if (copy) atomicAdd(copies, static_cast<uint64>(1));
  if (!counts) return;
  largest_of(&largest->norm, sqrt(norm));
  largest_of(&largest->low, sqrt(low_norm));
  largest_of(&largest->rest, sqrt(rest_norm));
}
