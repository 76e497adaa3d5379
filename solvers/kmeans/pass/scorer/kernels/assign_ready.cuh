// Prepares rows for warpgroups to multiply, eight columns at a time: as float16 parts in shared memory, or in
// registers. Include after the shapes of assign_groups.cuh.
#pragma once
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_confirm.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_load.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_ring.cuh"

/// Eight columns of a row; raw rows are float16 numbers already.
struct Elements {
  Element of[8];
};
using Segment = Choose<policy.raw, uint4, Elements>::type;
static_assert(!policy.raw || (sizeof(Element) == 2 && policy.vector == 8 && policy.parts == 1));
__device__ __forceinline__ void load_segment(uint4& raw, const Element* from, int segment) {
  raw = 8 * segment < policy.d ? *reinterpret_cast<const uint4*>(from + 8 * segment) : uint4{};
}
__device__ __forceinline__ void load_segment(Elements& raw, const Element* from, int segment) {
#pragma unroll
  for (int p = 0; p < 8; p += policy.vector) {
    const int column = 8 * segment + p;
    Piece piece{};
    if (column < policy.d) piece = *reinterpret_cast<const Piece*>(from + column);
#pragma unroll
    for (int e = 0; e < policy.vector; ++e) raw.of[p + e] = piece.part[e];
  }
}
/// Splits eight columns into their parts, and adds to the squares of the row and of the remainder of the parts.
__device__ __forceinline__ void split_segment(const uint4& raw, int, const Shift*, double, float& squared, float&,
                                              uint32 (&high)[4], uint32 (&)[4]) {
  high[0] = raw.x, high[1] = raw.y, high[2] = raw.z, high[3] = raw.w;
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const float even = lower_half(high[pair]), odd = upper_half(high[pair]);
    squared = __fmaf_rn(even, even, __fmaf_rn(odd, odd, squared));
  }
}
__device__ __forceinline__ void split_segment(const Elements& raw, int segment, const Shift* shifts, double scale,
                                              float& squared, float& rest, uint32 (&high)[4], uint32 (&low)[4]) {
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    float v[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int j = 8 * segment + 2 * pair + e;
      v[e] = j < policy.d ? centred(raw.of[2 * pair + e], shifts[j], scale) : 0.0f;
      squared = __fmaf_rn(v[e], v[e], squared);
    }
    high[pair] = halves(v[0], v[1]);
    const float even = v[0] - lower_half(high[pair]), odd = v[1] - upper_half(high[pair]);
    if (policy.parts == 2)
      low[pair] = halves(even, odd);
    else
      rest = __fmaf_rn(even, even, __fmaf_rn(odd, odd, rest));
  }
}

/// The product of a row and the centroid of its label, as the upper parts of both multiply.
struct Own {
  const unsigned char* eights;  // of that centroid, the first
  float product = 0;

  __device__ __forceinline__ Own(const unsigned char* fragments, int label)
      : eights(fragments + label / policy.chunk * chunk_bytes + label % policy.chunk * 16) {}
  __device__ __forceinline__ void add(const uint32 (&high)[4], const uint4& of) {
    const uint32 with[4] = {of.x, of.y, of.z, of.w};
#pragma unroll
    for (int pair = 0; pair < 4; ++pair)
      product = __fmaf_rn(lower_half(high[pair]), lower_half(with[pair]),
                          __fmaf_rn(upper_half(high[pair]), upper_half(with[pair]), product));
  }
};

/// Bounds of tiles leave no registers for it.
constexpr bool by_columns = !policy.bounded;

/// Two of a warp's 16 rows, of which a lane prepares every fourth segment, with its parts of their norms. The row at
/// position 2g + s is the row g + 8s of the 16; the lanes of quad g will have its scores. For shared memory, the lanes
/// g, g + 8, g + 16 and g + 24 share it, so that eight lanes put sixteen bytes each side by side.
struct TwoRows {
  const Element* from[slots];
  float squared[slots], rest[slots];

  /// The rows of whoever shares those of lane or quad `g`; lanes below 16 have the numbers.
  __device__ __forceinline__ void take(const Rows& x, int64 mine, int g) {
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      const int64 i = __shfl_sync(everyone, mine, 2 * g + s);
      from[s] = row_of(x, i < 0 ? 0 : i);
    }
  }
};

/// Adds up the parts of all lanes that share a row.
__device__ __forceinline__ float sum_of_row(float part) {
  part += __shfl_xor_sync(everyone, part, 8);
  return part + __shfl_xor_sync(everyone, part, 16);
}
/// Adds up as sum_of_row does, for one lane of the quad that will have the row's scores; 0 for others.
__device__ __forceinline__ float sum_to_quad(float part) {
  const float sum = __shfl_sync(everyone, sum_of_row(part), threadIdx.x % 32 / 4);
  return threadIdx.x % 4 == 0 ? sum : 0.0f;
}

/// The segments from `first` on become parts in shared memory, from `left` on for these 16 rows. Confirming takes
/// the product with the centroids `own`, too.
template <int at_once, int first>
__device__ __forceinline__ void put_segments(TwoRows& rows, Own (&own)[slots], unsigned char* left, const Shift* shifts,
                                             double scale) {
  constexpr int segments = 2 * policy.steps;
  const int lane = threadIdx.x % 32, g = by_columns ? lane % 8 : lane / 4, q = by_columns ? lane / 8 : lane % 4;
#pragma unroll 1
  for (int begin = first + q; begin < segments; begin += 4 * at_once) {
    Segment raw[at_once][slots];
    uint4 centroid[at_once][slots];
#pragma unroll
    for (int o = 0; o < at_once; ++o)
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        load_segment(raw[o][s], rows.from[s], begin + 4 * o);
        if (policy.confirms && begin + 4 * o < segments)
          centroid[o][s] = __ldg(reinterpret_cast<const uint4*>(own[s].eights + (begin + 4 * o) * (16 * policy.chunk)));
      }
#pragma unroll
    for (int o = 0; o < at_once; ++o) {
      const int segment = begin + 4 * o;
      if (segment >= segments) break;
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        uint32 high[4], low[4];
        split_segment(raw[o][s], segment, shifts, scale, rows.squared[s], rows.rest[s], high, low);
        unsigned char* const to = left + (segment - first) * (16 * group_rows) + (g + 8 * s) * 16;
        *reinterpret_cast<uint4*>(to) = {high[0], high[1], high[2], high[3]};
        if (policy.parts == 2) *reinterpret_cast<uint4*>(to + left_part) = {low[0], low[1], low[2], low[3]};
        if (policy.confirms) own[s].add(high, centroid[o][s]);
      }
    }
  }
}
/// Makes what was stored visible to tensor instructions.
__device__ __forceinline__ void put_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Lane t of a quad gets the numbers t of all four lanes, in their order.
__device__ __forceinline__ void transpose(uint32 (&x)[4]) {
#pragma unroll
  for (int bit = 1; bit < 4; bit *= 2) {
    const bool upper = (threadIdx.x & bit) != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & bit) != 0) continue;
      const uint32 received = __shfl_xor_sync(everyone, upper ? x[i] : x[i + bit], bit);
      if (upper)
        x[i] = received;
      else
        x[i + bit] = received;
    }
  }
}

/// The first segments of rows become upper parts in registers.
__device__ __forceinline__ void hold_segments(uint32 (&held)[held_steps][4], TwoRows& rows, const Shift* shifts,
                                              double scale) {
  constexpr int at_once = policy.raw ? 4 : 2, segments = 2 * policy.held;  // beside what is held
  const int q = threadIdx.x % 4;
#pragma unroll
  for (int begin = 0; begin < segments; begin += 4 * at_once) {
    Segment raw[at_once][slots];
#pragma unroll
    for (int o = 0; o < at_once; ++o)
#pragma unroll
      for (int s = 0; s < slots; ++s)
        if (begin + 4 * o < segments) load_segment(raw[o][s], rows.from[s], begin + 4 * o + q);
#pragma unroll
    for (int o = 0; o < at_once; ++o)
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        const int segment = begin + 4 * o;
        if (segment >= segments) continue;
        uint32 high[4], low[4];
        split_segment(raw[o][s], segment + q, shifts, scale, rows.squared[s], rows.rest[s], high, low);
        transpose(high);
#pragma unroll
        for (int i = 0; i < 4; ++i) held[(segment + i) / 2][i % 2 * 2 + s] = high[i];
      }
  }
}

/// A warp's own 16 rows, of which lanes below 16 have the numbers: `mine`.
__device__ __forceinline__ void load_own(uint32 (&held)[held_steps][4], Row (&row)[slots], const Rows& x, int64 mine,
                                         unsigned char* left, const Shift* shifts, double scale) {
  TwoRows rows = {};
  rows.take(x, mine, by_columns ? threadIdx.x % 8 : threadIdx.x % 32 / 4);
  Own none[slots] = {{nullptr, 0}, {nullptr, 0}};
  constexpr int most = policy.raw ? 6 : sizeof(Element) == 8 ? 2 : 4;
  constexpr int each = policy.held < policy.steps ? (policy.steps - policy.held + 1) / 2 : 1;
  constexpr int rounds = (each + most - 1) / most;
  put_segments<(each + rounds - 1) / rounds, 2 * policy.held>(rows, none, left, shifts, scale);
  if constexpr (by_columns)
#pragma unroll
    for (int s = 0; s < slots; ++s)
      rows.squared[s] = sum_to_quad(rows.squared[s]), rows.rest[s] = sum_to_quad(rows.rest[s]);
  if constexpr (policy.held > 0) {
    rows.take(x, mine, threadIdx.x % 32 / 4);
    hold_segments(held, rows, shifts, scale);
  }
  if constexpr (policy.raw) {
    const float both = static_cast<float>(scale) * static_cast<float>(scale);
#pragma unroll
    for (int s = 0; s < slots; ++s) rows.squared[s] *= both;
  }
#pragma unroll
  for (int s = 0; s < slots; ++s) row[s] = {3e30f, 3e30f, rows.squared[s], rows.rest[s], 0, 3e30f, 0};
  put_fence();
}

/// Lets the caches fetch a row, or how it begins, while there is arithmetic to be done.
__device__ __forceinline__ void fetch_ahead(const Rows& x, int64 row) {
  constexpr uint32 bytes = policy.ahead;
  if (!policy.ahead || row < 0) return;
  const char* const from = reinterpret_cast<const char*>(row_of(x, row));
  // The copy engine is slow at rows that lie anywhere.
  if (!policy.listed && policy.alignment == 16 && bytes % 16 == 0)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "n"(bytes / 16 * 16) : "memory");
  else
    for (uint32 at = 0; at < bytes; at += 128) asm volatile("prefetch.global.L2 [%0];" ::"l"(from + at));
}

/// A producer warp makes 16 rows from `first` on ready, the quarter `quarter` of those at `left`.
__device__ __forceinline__ void make_ready(const Arguments& a, const Bound& bound, const Shift* shifts, int64 first,
                                           int quarter, unsigned char* left, Known* known_rows) {
  // Registers are few.
  constexpr int at_once = sizeof(Element) == 8 || policy.confirms || policy.wide ? 1 : 2, segments = 2 * policy.steps;
  const int lane = threadIdx.x % 32, g = lane % 8, q = lane / 8;
  const auto* const fragments = static_cast<const unsigned char*>(a.centroids);
  TwoRows rows = {};
  int label[slots];
#pragma unroll
  for (int s = 0; s < slots; ++s) {
    const int64 i = first + 2 * g + s;
    rows.from[s] = row_of(a.x, i < a.x.count ? i : 0);
    label[s] = i < a.x.count ? a.labels[i] : -1;
  }
  Own own[slots] = {{fragments, known(label[0])}, {fragments, known(label[1])}};
  put_segments<at_once, 0>(rows, own, left + 256 * quarter, shifts, a.scale);
#pragma unroll
  for (int s = 0; s < slots; ++s) {
    Row row = {};
    row.squared = sum_of_row(rows.squared[s]), row.rest = sum_of_row(rows.rest[s]);
    if constexpr (policy.confirms) {
      const float score = __ldg(a.origins + known(label[s])) + sum_of_row(own[s].product);
      const uint4 limit =
          limit_of(label[s], score, undecided_within(bound, row, 1), *a.largest, norm_of(row.squared), policy.steps);
      if (q < 2)
        *reinterpret_cast<uint4*>(left + (segments + q) * (16 * group_rows) + (16 * quarter + g + 8 * s) * 16) =
            q == 0 ? limit : uint4{};
    } else if (q == 0) {
      known_rows[16 * quarter + 2 * g + s] = {row.squared, row.rest, label[s], 0};
    }
  }
  put_fence();
  __syncwarp();
}

/// A producer warp makes every so many-th 16 rows of the block ready.
__device__ __forceinline__ void produce_rows(const Arguments& a, const Shared& shared, const Bound& bound, int unit,
                                             const RowTiles& tiles) {
  int64 tile = 0;
  for (int64 block = tiles.begin; block < tiles.count; ++tile, block += tiles.stride, unit -= consumers)
    for (; unit < consumers; unit += policy.producers) {
      const int turn = tile % 2, to = unit / 4;
      if (tile >= 2) barrier_wait(shared.rows_empty(to, turn), tile / 2 % 2 ^ 1);
      make_ready(a, bound, shared.shifts(), block + 16 * unit, unit % 4, shared.left(to, turn), shared.known(to, turn));
      if (arrives_for_warp(threadIdx.x % 32)) barrier_arrive(shared.rows_full(to, turn));
    }
}
