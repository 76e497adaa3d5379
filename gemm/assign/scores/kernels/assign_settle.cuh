// What becomes of rows whose label was found, or could not be: a warp answers for 32 rows at a time. Sums of few centroids and
// columns are kept in shared memory until the block is done; otherwise rows that move are listed. TS_D: columns; TS_CLUSTERS: padded
// centroids; TS_ON_CHIP: the sums fit into shared memory; TS_WARPS: in a block.
#pragma once
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_bounds.cuh"
#include "tallskinny/gemm/device/pipeline.cuh"

constexpr unsigned everyone = 0xffffffffu;

#if TS_ON_CHIP
/// The halves of limbs are integers of 16 bits, so that words of 32 hold the sums of the 2^15 rows that a block has at most.
/// Integers of 32 bits are what shared memory adds by itself.
struct ChipSums {
  int*
      words;  // lower and upper halves of upper limbs, then of lower limbs; each: columns and weight of each cluster; counts
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
      if (words[4 * part + m] != 0)
        atomicAdd(s.counts + m, static_cast<uint64>(static_cast<int64>(words[4 * part + m])));
  }
};

/// Called by a whole warp: the row `row` of each lane that has its bit in `moving` moves from the cluster `from` (from nowhere if
/// that is negative) to `to`. So many lanes share a row as its columns and its weight need.
__device__ __forceinline__ void move_rows(const Rows& x, const Sums& s, const ChipSums& into, int64 row,
                                          uint32 moving, int from, int to) {
  const int lane = threadIdx.x % 32;
  int across = 32;
  while (across / 2 > TS_D) across /= 2;
  const int together = 32 / across;
  const uint32 group = together == 32 ? ~0u : (1u << together) - 1;
  for (uint32 left = moving; left != 0;) {
    const int base = (__ffs(left) - 1) & ~(together - 1), who = base + lane / across;
    left &= ~(group << base);
    const int source = __shfl_sync(~0u, from, who), target = __shfl_sync(~0u, to, who);
    const int64 i = __shfl_sync(~0u, row, who);
    if ((moving >> who & 1) == 0) continue;
    const double weight = s.weights == nullptr ? 1.0 : s.weights[i];
    if (weight == 0) continue;
    const double w = __dmul_rn(weight, s.weight_to_units);
    for (int j = lane % across; j <= TS_D; j += across) {
      double in_units = w;
      if (j < TS_D) in_units = __dmul_rn(w, __dmul_rn(__dsub_rn(value(x, i, j), s.shift[j]), s.to_units[j]));
      const Limbs l = split(in_units, s.one);
      into.add(target, j, l, 1);
      if (source >= 0) into.add(source, j, l, -1);
    }
  }
}
#endif

/// Labels or marks the rows that lanes answer for, and moves them from sum to sum, or lists them.
struct Settle {
  const Rows& x;
  const Selection& selection;
  const Sums& sums;
  int* labels;
  uint32* undecided;
  int* chip;
  uint32 changed = 0;

  /// The row at this position; -1 behind the last.
  __device__ __forceinline__ int64 row(int64 position, int64 count) const {
    return position < count ? selection.row(position) : -1;
  }
  /// Its label so far.
  __device__ __forceinline__ int before(int64 row) const { return row >= 0 ? labels[row] : -1; }

  /// Marks the positions first + lane of lanes that say so: a whole word of marks, or half of one.
  template <int Bits>
  static __device__ __forceinline__ void mark(uint32* marks, int64 first, bool marked) {
    const uint32 word = __ballot_sync(everyone, marked);
    if (threadIdx.x % 32 != 0) return;
    if (Bits == 16)
      reinterpret_cast<unsigned short*>(marks)[first / 16] = static_cast<unsigned short>(word);
    else
      marks[first / 32] = word;
  }
  /// The rows at these positions have this label if that is certain, and are marked as undecided if they are open. TS_FAST 1: they
  /// have it.
  template <int Bits>
  __device__ __forceinline__ void settle(int64 first, int64 row, int before, int label, bool certain,
                                         bool open) {
    const bool real = row >= 0 && static_cast<int>(threadIdx.x) % 32 < Bits;
    mark<Bits>(undecided, first, real && open && !TS_FAST);
    move(row, before, label, real && (certain || TS_FAST) && label != before);
  }
  template <int Bits>
  __device__ __forceinline__ void settle(int64 first, int64 row, int before, int label, bool certain) {
    settle<Bits>(first, row, before, label, certain, !certain);
  }
  /// The rows of lanes that say so move.
  __device__ __forceinline__ void move(int64 row, int before, int label, bool moves) {
    const uint32 moving = __ballot_sync(everyone, moves);
    if (moving == 0) return;
    if (moves) labels[row] = label;
    changed += __popc(moving);
    if (sums.upper == nullptr) return;
#if TS_ON_CHIP
    move_rows(x, sums, ChipSums{chip}, row, moving, before, label);
#else
    list_moves(sums.moves, row, before, moving);
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

__device__ __forceinline__ constexpr int bits_for(int numbers) {
  int bits = 0;
  while ((1 << bits) < numbers) ++bits;
  return bits;
}

/// A score that lies, with all its errors, within one binade of float32 (its origin does), as an integer in its order whose lowest
/// bits are a number below `places`, a power of two that the compiler must not know: multiply-adds do not bind, shifts would.
__device__ __forceinline__ uint32 key_of(float score, uint32 places, uint32 number) {
  return __float_as_uint(score) * places + number;
}
/// The two least of these and two more.
__device__ __forceinline__ void take(uint32 a, uint32 b, uint32& best, uint32& second) {
  const uint32 less = min(a, b);
  second = __vimin3_u32(second, max(a, b), max(best, less));
  best = min(best, less);
}
/// The three least of these and two more.
__device__ __forceinline__ void take(uint32 a, uint32 b, uint32& best, uint32& second, uint32& third) {
  const uint32 less = min(a, b), more = max(a, b);
  third = __vimin3_u32(third, max(second, less), max(best, more));
  second = __vimin3_u32(second, more, max(best, less));
  best = min(best, less);
}

/// The two least of these, unless keys are the first, and of an even number of keys, all of which differ: behind the least itself,
/// what follows it by least.
template <int Keys>
__device__ __forceinline__ void take_all(const uint32 (&key)[Keys], bool first, uint32& best,
                                         uint32& second) {
  uint32 least = first ? min(key[0], key[1]) : __vimin3_u32(best, key[0], key[1]);
#pragma unroll
  for (int i = 2; i < Keys; i += 2) least = __vimin3_u32(least, key[i], key[i + 1]);
  const uint32 before = ~least;  // - least - 1, by which the least itself becomes the largest
  uint32 next =
      first ? key[0] + before : __viaddmin_u32(key[0], before, __viaddmin_u32(best, before, second + before));
#pragma unroll
  for (int i = 1; i < Keys; ++i) next = __viaddmin_u32(key[i], before, next);
  best = least, second = next - before;
}

/// The root of a sum of TS_D rounded squares, rounded up.
__device__ __forceinline__ float norm_of(float squared) {
  float norm;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(norm) : "f"(squared * (1 + (TS_D + 16) * 0x1p-23f)));
  return norm * (1 + 0x1p-20f);
}
