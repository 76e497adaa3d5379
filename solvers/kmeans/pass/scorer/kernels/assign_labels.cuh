// Handles rows whose label was found, or could not be: a warp takes 32 rows at a time. Sums of few centroids and
// columns are kept in shared memory until the block is done; otherwise rows that move are listed.
#pragma once
#include "tallskinny/gemm/device/pipeline.cuh"
#include "tallskinny/solvers/kmeans/pass/resolver/arguments.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/kernels/sums_moves.cuh"

constexpr unsigned everyone = 0xffffffffu;

using Stats = ts::cuda::PassCounts;
using Pair = ts::cuda::Pair;

/// The halves of limbs are integers of 16 bits, so that words of 32 hold the sums of the 2^15 rows that a block
/// has at most. Integers of 32 bits are what shared memory adds by itself.
struct ChipSums {
  /// Lower and upper halves of upper limbs, then of lower limbs; each: columns and weight of each cluster; counts.
  int* words;
  static constexpr int line = policy.d + 1, part = policy.clusters() * line, all = 4 * part + policy.clusters();
  static_assert(all == ts::cuda::chip_words(policy.clusters(), policy.d));

  __device__ __forceinline__ void add(int cluster, int j, const Limbs& l, int sign) const {
    int* const to = words + cluster * line + j;
    const int upper = static_cast<int>(l.upper), lower = static_cast<int>(l.lower);
    atomicAdd(to, sign * (upper & 0xffff));
    atomicAdd(to + part, sign * (upper >> 16));
    atomicAdd(to + 2 * part, sign * (lower & 0xffff));
    atomicAdd(to + 3 * part, sign * (lower >> 16));
    if (j == policy.d) atomicAdd(words + 4 * part + cluster, sign);
  }
  __device__ __forceinline__ void clear() const {
    for (int e = threadIdx.x; e < all; e += 32 * policy.warps) words[e] = 0;
  }
  __device__ __forceinline__ void flush(const Sums& s) const {
    for (int e = threadIdx.x; e < part; e += 32 * policy.warps) {
      const int64 upper = words[e] + words[e + part] * 65536ll;
      const int64 lower = words[e + 2 * part] + words[e + 3 * part] * 65536ll;
      if (upper == 0 && lower == 0) continue;
      const int cluster = e / line, j = e % line;
      const int64 at = static_cast<int64>(cluster) * policy.d + j;
      atomicAdd(j == policy.d ? s.weight_upper + cluster : s.upper + at, static_cast<uint64>(upper));
      atomicAdd(j == policy.d ? s.weight_lower + cluster : s.lower + at, static_cast<uint64>(lower));
    }
    for (int m = threadIdx.x; m < policy.clusters(); m += 32 * policy.warps)
      if (words[4 * part + m] != 0)
        atomicAdd(s.counts + m, static_cast<uint64>(static_cast<int64>(words[4 * part + m])));
  }
};

/// Called by a whole warp: the row `row` of each lane that has its bit in `moving` moves from the cluster
/// `from` (from nowhere if that is negative) to `to`. So many lanes share a row as its columns and its weight
/// need. Rows that are scored have their elements side by side, and no scales.
__device__ __forceinline__ void move_rows(const Rows& x, const Sums& s, const ChipSums& into, int64 row, uint32 moving,
                                          int from, int to) {
  const int lane = threadIdx.x % 32;
  int across = 32;
  while (across / 2 > policy.d) across /= 2;
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
    for (int j = lane % across; j <= policy.d; j += across) {
      double in_units = w;
      if (j < policy.d)
        in_units = __dmul_rn(w, __dmul_rn(__dsub_rn(widen(row_of(x, i)[j]), s.shift[j]), s.to_units[j]));
      const Limbs l = split(in_units, s.one);
      into.add(target, j, l, 1);
      if (source >= 0) into.add(source, j, l, -1);
    }
  }
}

/// Labels or marks the rows that lanes answer for, and moves them from sum to sum, or lists them.
struct LabelWriter {
  const Rows& x;
  const Selection& selection;
  const Sums& sums;
  int* labels;
  uint32* undecided;
  int* chip;
  uint32 changed = 0;

  /// The row at this position; -1 behind the last.
  __device__ __forceinline__ int64 row(int64 position, int64 count) const {
    return position < count ? row_at(selection, position) : -1;
  }
  /// The label of a row so far.
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
  /// The rows at these positions have this label if that is certain, and are marked as undecided if they are
  /// unsure. policy.fast: they have it.
  template <int Bits>
  __device__ __forceinline__ void write(int64 first, int64 row, int before, int label, bool certain, bool unsure) {
    const bool real = row >= 0 && static_cast<int>(threadIdx.x) % 32 < Bits;
    mark<Bits>(undecided, first, real && unsure && !policy.fast);
    move(row, before, label, real && (certain || policy.fast) && label != before);
  }
  template <int Bits>
  __device__ __forceinline__ void write(int64 first, int64 row, int before, int label, bool certain) {
    write<Bits>(first, row, before, label, certain, !certain);
  }
  /// The rows of lanes that say so move.
  __device__ __forceinline__ void move(int64 row, int before, int label, bool moves) {
    const uint32 moving = __ballot_sync(everyone, moves);
    if (moving == 0) return;
    if (moves) labels[row] = label;
    changed += __popc(moving);
    if (sums.upper == nullptr) return;
    if constexpr (policy.on_chip)
      move_rows(x, sums, ChipSums{chip}, row, moving, before, label);
    else
      list_moves(sums.moves, row, before, moving);
  }
  /// Call before the first row of the block; a barrier must follow.
  __device__ __forceinline__ void begin() const {
    if constexpr (policy.on_chip) ChipSums{chip}.clear();
  }
  /// Call on all threads, after the block's last row.
  __device__ __forceinline__ void end(Stats* stats) const {
    if (threadIdx.x % 32 == 0 && changed != 0) atomicAdd(&stats->changed, static_cast<uint64>(changed));
    if constexpr (policy.on_chip) {
      __syncthreads();
      if (sums.upper != nullptr) ChipSums{chip}.flush(sums);
    }
  }
};
