// What becomes of rows whose label was found, or could not be: a warp answers for 32 rows at a time. Sums of few centroids and
// columns are kept in shared memory until the block is done. TS_D: columns; TS_CLUSTERS: padded centroids; TS_ON_CHIP: the sums
// fit into shared memory; TS_WARPS: in a block.
#pragma once
#include "assign_bounds.cuh"
#include "assign_rows.cuh"
#include "pipeline.cuh"

constexpr unsigned everyone = 0xffffffffu;

#if TS_ON_CHIP
/// The halves of limbs are integers of 16 bits, so that words of 32 hold the sums of the 2^15 rows that a block has at most.
/// Integers of 32 bits are what shared memory adds by itself.
struct ChipSums {
  int* words;  // lower and upper halves of upper limbs, then of lower limbs; each: columns and weight of each cluster; counts
  static constexpr int line = TS_D + 1, part = TS_CLUSTERS * line, all = 4 * part + TS_CLUSTERS;

  __device__ __forceinline__ void add(int cluster, int j, const Limbs& l, int sign) const {
    int* const to = words + cluster * line + j;
    const int upper = static_cast<int>(l.upper), lower = static_cast<int>(l.lower);
    atomicAdd(to, sign * (upper & 0xffff));
    atomicAdd(to + part, sign * (upper >> 16));
    atomicAdd(to + 2 * part, sign * (lower & 0xffff));
    atomicAdd(to + 3 * part, sign * (lower >> 16));
    if (j == TS_D) atomicAdd(words + 4 * part + cluster, sign);
  }
  __device__ __forceinline__ void clear() const {
    for (int e = threadIdx.x; e < all; e += 32 * TS_WARPS) words[e] = 0;
  }
  __device__ __forceinline__ void flush(const Sums& s) const {
    for (int e = threadIdx.x; e < part; e += 32 * TS_WARPS) {
      const int64 upper = words[e] + words[e + part] * 65536ll;
      const int64 lower = words[e + 2 * part] + words[e + 3 * part] * 65536ll;
      if (upper == 0 && lower == 0) continue;
      const int cluster = e / line, j = e % line;
      const int64 at = static_cast<int64>(cluster) * TS_D + j;
      atomicAdd(j == TS_D ? s.weight_upper + cluster : s.upper + at, static_cast<uint64>(upper));
      atomicAdd(j == TS_D ? s.weight_lower + cluster : s.lower + at, static_cast<uint64>(lower));
    }
    for (int m = threadIdx.x; m < TS_CLUSTERS; m += 32 * TS_WARPS)
      if (words[4 * part + m] != 0) atomicAdd(s.counts + m, static_cast<uint64>(static_cast<int64>(words[4 * part + m])));
  }
};
#endif

/// Labels or marks the row first + lane of each lane below `rows`, and moves it from sum to sum.
struct Settle {
  const Rows& x;
  const Sums& sums;
  int* labels;
  uint32* undecided;
  int* chip;
  uint32 changed = 0;

  /// The label of this lane's row so far.
  __device__ __forceinline__ int before(int64 first, int rows) const {
    const int lane = threadIdx.x % 32;
    return first + lane < x.count && lane < rows ? labels[first + lane] : -1;
  }
  __device__ __forceinline__ void operator()(int64 first, int rows, int before, int label, bool certain) {
    const int lane = threadIdx.x % 32;
    const bool real = first + lane < x.count && lane < rows;
    const uint32 open = __ballot_sync(everyone, real && !certain);
    if (lane == 0) {
      if (rows == 16)
        reinterpret_cast<unsigned short*>(undecided)[first / 16] = static_cast<unsigned short>(open);
      else
        undecided[first / 32] = open;
    }
    const bool moves = real && certain && label != before;
    const uint32 moving = __ballot_sync(everyone, moves);
    if (moving == 0) return;
    if (moves) labels[first + lane] = label;
    changed += __popc(moving);
    if (sums.upper == nullptr) return;
#if TS_ON_CHIP
    move_rows(x, TS_D, sums, ChipSums{chip}, first, moving, before, label);
#else
    move_rows(x, TS_D, sums, GlobalSums{sums, TS_D}, first, moving, before, label);
#endif
  }
  /// Before the first row of the block; a barrier must follow.
  __device__ __forceinline__ void begin() const {
#if TS_ON_CHIP
    ChipSums{chip}.clear();
#endif
  }
  /// By all threads, after the block's last row.
  __device__ __forceinline__ void end(Stats* stats) const {
    if (threadIdx.x % 32 == 0 && changed != 0) atomicAdd(&stats->changed, static_cast<uint64>(changed));
#if TS_ON_CHIP
    __syncthreads();
    if (sums.upper != nullptr) ChipSums{chip}.flush(sums);
#endif
  }
};

/// Elements of one load; TS_COUNT of them, aligned to TS_ALIGN.
using Piece = Vector<Element, TS_COUNT, TS_ALIGN>;

/// (x - shift) scale from a column's shift, or where float32 is enough from -shift scale.
#if TS_WIDE
using Shift = double;
__device__ __forceinline__ float centred(Element x, double shift, double scale) {
  return static_cast<float>((static_cast<double>(widen(x)) - shift) * scale);
}
#else
using Shift = float;
__device__ __forceinline__ float centred(Element x, float shift, double scale) {
  return __fmaf_rn(static_cast<float>(widen(x)), static_cast<float>(scale), shift);
}
#endif
__device__ __forceinline__ Shift shift_of(double shift, double scale) {
  return static_cast<Shift>(TS_WIDE ? shift : -shift * scale);
}

/// A score whose lowest bits are the number of its centroid.
template <uint32 Mask>
__device__ __forceinline__ float numbered(float score, uint32 number) {
  return __uint_as_float((__float_as_uint(score) & ~Mask) | number);
}
__device__ __forceinline__ void take(float score, float& best, float& second) {
  second = fminf(second, fmaxf(best, score));
  best = fminf(best, score);
}
__device__ __forceinline__ constexpr int bits_for(int numbers) {
  int bits = 0;
  while ((1 << bits) < numbers) ++bits;
  return bits;
}

/// Whether the scores decide a row whose squared norm was summed from TS_D rounded squares.
__device__ __forceinline__ bool decides(const Margin& margin, float squared, float best, float second) {
  float norm;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(norm) : "f"(squared * (1 + (TS_D + 16) * 0x1p-23f)));
  return second - best > __fmaf_rn(margin.by_norm, norm * (1 + 0x1p-20f), margin.constant);
}
