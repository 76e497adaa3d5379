// As assign_groups, for rows of up to 128 columns and many centroids (sm_90a): some warps do nothing but make
// the next rows ready, so that the warpgroups only multiply and compare scores. One more warp lets the copy
// engine bring chunks of centroids. policy.confirms: only whether rows keep their labels is found
// (assign_confirm.cuh).
#include "tallskinny/gemm/assign/scores/kernels/assign_keys.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_load.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_settle.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_wgmma.cuh"

constexpr int steps = policy.all_steps(), slots = 2, chunks = policy.centroids / policy.chunk,
              blocks_of_8 = policy.chunk / 8;
constexpr bool paired = false;
static_assert(policy.confirms || !policy.margin, "a pass with a margin confirms labels");
constexpr int groups = policy.groups, consumers = policy.consumers, producers = policy.producers;
static_assert(policy.warps == consumers + producers + 1);
constexpr int group_rows = ts::cuda::group_rows, block_rows = group_rows * groups;
constexpr int right_step = ts::cuda::step_bytes * policy.chunk, stage_bytes = policy.stage_bytes(),
              left_step = ts::cuda::step_bytes * group_rows, left_bytes = policy.left_bytes();
constexpr int held = policy.held();  // steps of rows that multiply from registers, which spares shared memory
constexpr int chunk_bytes = (policy.confirms ? 1 : 2) * stage_bytes;  // behind upper parts there are the lower ones
constexpr int index_bits = bits_for(2 * blocks_of_8);
#include "tallskinny/gemm/assign/scores/kernels/assign_best.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_confirm.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_segments.cuh"

/// What the warps that score a row are told of it: its norm and that of what its float16 numbers leave,
/// squared, and its label so far.
struct Known {
  float squared, rest;
  int label, unused;
};

static_assert(sizeof(Known) == policy.known_bytes);
constexpr int origins_here = policy.near_origins();

/// Shared memory: chunks of centroids; for each group twice its rows; unless labels are confirmed, twice what
/// is known of rows, and origins; shifts of columns; barriers.
struct Shared {
  unsigned char* memory;
  __device__ __forceinline__ uint64* chunk_full(int stage) const { return barrier(stage); }
  __device__ __forceinline__ uint64* chunk_empty(int stage) const { return barrier(policy.stages + stage); }
  /// Of a group's rows, the one or the other time.
  __device__ __forceinline__ uint64* rows_full(int group, int turn) const {
    return barrier(2 * policy.stages + 2 * group + turn);
  }
  __device__ __forceinline__ uint64* rows_empty(int group, int turn) const {
    return barrier(2 * policy.stages + 2 * groups + 2 * group + turn);
  }
  __device__ __forceinline__ unsigned char* left(int group, int turn) const {
    return memory + policy.left_at() + (2 * group + turn) * left_bytes;
  }
  __device__ __forceinline__ Known* known(int group, int turn) const {
    return reinterpret_cast<Known*>(memory + policy.known_at()) + (2 * group + turn) * group_rows;
  }
  __device__ __forceinline__ float* origins() const { return reinterpret_cast<float*>(memory + policy.origins_at()); }
  __device__ __forceinline__ Shift* shifts() const { return reinterpret_cast<Shift*>(memory + policy.shifts_at()); }

 private:
  __device__ __forceinline__ uint64* barrier(int number) const {
    return reinterpret_cast<uint64*>(memory + policy.barriers_at()) + number;
  }
};

/// One thread brings all chunks for so many tiles of rows.
__device__ __forceinline__ void produce(const Shared& shared, const unsigned char* fragments, int64 rounds) {
  RingPosition<policy.stages> at;
  uint32 filled = 0;
  for (int64 round = 0; round < rounds; ++round)
    for (int c = 0; c < chunks; ++c, at.advance()) {
      if (filled == policy.stages)
        barrier_wait(shared.chunk_empty(at.stage), at.parity ^ 1);
      else
        ++filled;
      barrier_arrive_expecting(shared.chunk_full(at.stage), stage_bytes);
      bulk_load(shared.memory + at.stage * stage_bytes, fragments + static_cast<int64>(c) * chunk_bytes, stage_bytes,
                shared.chunk_full(at.stage));
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

/// What all lanes of a quad have of a sum, of which each of them has a part.
__device__ __forceinline__ float sum_of_quad(float part) {
  part += __shfl_xor_sync(everyone, part, 1);
  return part + __shfl_xor_sync(everyone, part, 2);
}

/// What all rows have in common.
struct Scoring {
  const float* origins;
  const unsigned char* fragments;
  const Largest* largest;
  Bound bound;
  float per_unit;
  double scale;
  Margin margin;
};

/// Makes 16 rows from `first` on ready, the quarter `quarter` of a group's. The row at position 2g + s is the
/// row g + 8s of them.
__device__ __forceinline__ void make_ready(const Rows& x, const Scoring& scoring, const int* labels, int64 first,
                                           int quarter, const Shift* shifts, unsigned char* left, Known* known_rows) {
  // Registers are few.
  constexpr int at_once = sizeof(Element) == 8 || policy.confirms || policy.wide ? 1 : 2, segments = 2 * policy.steps;
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
  const Element* from[slots];
  int label[slots];
#pragma unroll
  for (int s = 0; s < slots; ++s) {
    const int64 i = first + 2 * g + s;
    from[s] = row_of(x, i < x.count ? i : 0);
    label[s] = i < x.count ? labels[i] : -1;
  }
  Own own[slots] = {{scoring.fragments, known(label[0])}, {scoring.fragments, known(label[1])}};
  float squared[slots] = {}, rest[slots] = {};
#pragma unroll 1
  for (int begin = q; begin < segments; begin += 4 * at_once) {
    Element raw[at_once][slots][8];
    uint4 centroid[at_once][slots];
#pragma unroll
    for (int o = 0; o < at_once; ++o)
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        load_segment(raw[o][s], from[s], begin + 4 * o);
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
        split_segment(raw[o][s], segment, shifts, scoring.scale, squared[s], rest[s], high, low);
        *reinterpret_cast<uint4*>(left + segment * (16 * group_rows) + (16 * quarter + g + 8 * s) * 16) = {
            high[0], high[1], high[2], high[3]};
        if (policy.confirms) own[s].add(high, centroid[o][s]);
      }
    }
  }
#pragma unroll
  for (int s = 0; s < slots; ++s) {
    Row row = {};
    row.squared = sum_of_quad(squared[s]), row.rest = sum_of_quad(rest[s]);
    if constexpr (policy.confirms) {
      const float score = __ldg(scoring.origins + known(label[s])) + sum_of_quad(own[s].product);
      const uint4 limit = limit_of(label[s], score, open_within(scoring.bound, row, 1), scoring.margin,
                                   *scoring.largest, norm_of(row.squared), policy.steps);
      if (q < 2)
        *reinterpret_cast<uint4*>(left + (segments + q) * (16 * group_rows) + (16 * quarter + g + 8 * s) * 16) =
            q == 0 ? limit : uint4{};
    } else if (q == 0) {
      known_rows[16 * quarter + 2 * g + s] = {row.squared, row.rest, label[s], 0};
    }
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
}

/// The 16 columns from `left` on of a warp's 16 rows, as tensor instructions have them in registers.
__device__ __forceinline__ void load_fragment(uint32 (&rows)[4], const unsigned char* left, int quarter) {
  const int lane = threadIdx.x % 32;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(rows[0]), "=r"(rows[1]), "=r"(rows[2]), "=r"(rows[3])
               : "r"(shared_address(left + lane / 16 * (16 * group_rows) + (16 * quarter + lane % 16) * 16))
               : "memory");
}

/// Starts product = rows times a chunk of centroids.
__device__ __forceinline__ void multiply(float (&product)[4 * blocks_of_8], const uint32 (&rows)[held][4], uint64 lefts,
                                         uint64 right) {
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < steps; ++step)
    if (step < held)
      WgmmaHalf<blocks_of_8>::multiply(product, rows[step < held ? step : 0], right + step * (right_step / 16), step);
    else
      WgmmaHalf<blocks_of_8>::multiply(product, lefts + step * (left_step / 16), right + step * (right_step / 16),
                                       step);
  wgmma_commit();
}

/// What scores of a chunk tell of a warp's rows.
__device__ __forceinline__ void take_chunk(const float (&product)[4 * blocks_of_8], const float2* from, int first,
                                           uint32 places, Below (&below)[slots], Row (&row)[slots]) {
  if constexpr (policy.confirms) {
#pragma unroll
    for (int i = 0; i < 4 * blocks_of_8; i += 2) below[i / 2 % slots].add(product[i], product[i + 1]);
#pragma unroll
    for (int s = 0; s < slots; ++s) below[s].end_stretch();
  } else {
    uint32 best[slots] = {~0u, ~0u}, second[slots] = {~0u, ~0u};
#pragma unroll
    for (int b = 0; b < blocks_of_8; ++b) {
      const float2 origin = from[4 * b];
#pragma unroll
      for (int s = 0; s < slots; ++s)
        take(key_of(origin.x + product[4 * b + 2 * s], places, 2 * b),
             key_of(origin.y + product[4 * b + 2 * s + 1], places, 2 * b + 1), best[s], second[s]);
    }
#pragma unroll
    for (int s = 0; s < slots; ++s)
      also(row[s], {score_of(best[s]), score_of(second[s]), 0, 0, label_of(best[s], first)});
  }
}

/// The warps that multiply and compare.
__device__ __forceinline__ void score_rows(const ts::cuda::ScoresArguments& a, const Shared& shared, const Bound& bound,
                                           int warp) {
  const Rows& x = a.x;
  const int lane = threadIdx.x % 32, group = warp / 4;
  const int64 count = x.count, stride = static_cast<int64>(gridDim.x) * block_rows,
              begin = static_cast<int64>(blockIdx.x) * block_rows;
  const uint32 places = a.one << index_bits;
  const Selection everything{};
  Settle settle{x, everything, a.sums, a.labels, a.undecided, nullptr};
  RingPosition<policy.stages> at;
  const uint64 rights = wgmma_descriptor(shared.memory, policy.chunk);  // bytes add to it in sixteens
  int turn = 0;
  uint32 parity = 0;
  for (int64 block = begin; block < count; block += stride) {
    const int64 first = block + warp * 16;
    const unsigned char* const left = shared.left(group, turn);
    const Known* const of_warp = shared.known(group, turn) + warp % 4 * 16;
    barrier_wait(shared.rows_full(group, turn), parity);
    uint32 rows[held][4];
#pragma unroll
    for (int step = 0; step < held; ++step) load_fragment(rows[step], left + 2 * step * (16 * group_rows), warp % 4);
    const uint64 lefts = wgmma_descriptor(left, group_rows);
    Below below[slots] = {};
    Row row[slots] = {{3e30f, 3e30f}, {3e30f, 3e30f}};
#pragma unroll 1
    for (int c = 0; c < chunks; ++c) {
      float product[4 * blocks_of_8];
      barrier_wait(shared.chunk_full(at.stage), at.parity);
      multiply(product, rows, lefts, rights + at.stage * (stage_bytes / 16));
      wgmma_wait();
      if (arrives_for_warp(lane)) barrier_arrive(shared.chunk_empty(at.stage));
      at.advance();
      keep(product);
      take_chunk(product,
                 reinterpret_cast<const float2*>((origins_here > 0 ? shared.origins() : a.origins) + c * policy.chunk) +
                     lane % 4,
                 c * policy.chunk, places, below, row);
    }
    const int64 mine = lane < 16 ? settle.row(first + lane, count) : -1;
    int before = -1, label = -1;  // nothing moves
    bool certain;
    if constexpr (policy.confirms) {
      // Position 2g + s is the row s of quad g.
      certain = (__shfl_sync(everyone, with_only_one(below), lane / 2 * 4 % 32) >> lane % 2 & 1) != 0;
    } else {
      const Known of_row = of_warp[lane % 16];
      Row all = collect(row, 0);
      all.squared = of_row.squared, all.rest = of_row.rest;
      certain = all.second - all.best > open_within(bound, all, a.per_unit);
      before = of_row.label, label = all.label;
    }
    __syncwarp();
    if (arrives_for_warp(lane)) barrier_arrive(shared.rows_empty(group, turn));
    if (turn == 1) parity ^= 1;
    turn ^= 1;
    if (first < count) settle.settle<16>(first, mine, before, label, certain);
  }
  settle.end(a.counts);
}

extern "C" __global__ void __launch_bounds__(32 * policy.warps, policy.blocks)
    assign_producers(ts::cuda::ScoresArguments a) {
  const Rows& x = a.x;
  const auto* const fragments = static_cast<const unsigned char*>(a.fragments);
  constexpr int kept = policy.producer_registers;
  extern __shared__ __align__(128) unsigned char memory[];
  const Shared shared{memory};
  const int64 count = x.count, stride = static_cast<int64>(gridDim.x) * block_rows,
              begin = static_cast<int64>(blockIdx.x) * block_rows;
  for (int j = threadIdx.x; j < 16 * steps; j += 32 * policy.warps)
    shared.shifts()[j] = shift_of(j < policy.d ? a.shift[j] : 0, a.scale);
  for (int m = threadIdx.x; m < origins_here; m += 32 * policy.warps) shared.origins()[m] = a.origins[m];
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < policy.stages; ++stage)
      barrier_init(shared.chunk_full(stage), 1), barrier_init(shared.chunk_empty(stage), consumers * warp_arrivals);
    for (int group = 0; group < groups; ++group)
      for (int turn = 0; turn < 2; ++turn)
        barrier_init(shared.rows_full(group, turn), 4 * warp_arrivals),
            barrier_init(shared.rows_empty(group, turn), 4 * warp_arrivals);
    barrier_init_fence();
  }
  __syncthreads();
  const int warp = __shfl_sync(everyone, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  const Bound bound = bound_of_parts(*a.largest, policy.d, 1, steps, 1);
  if (warp >= consumers) {
    give_registers<kept>();
    if (warp == consumers + producers) {
      if (lane == 0 && begin < count) produce(shared, fragments, (count - begin + stride - 1) / stride);
      return;
    }
    const Scoring scoring{a.origins, fragments, a.largest, bound, a.per_unit, a.scale, a.margin};
    int unit = warp - consumers;
    for (int64 tile = 0, block = begin; block < count; ++tile, block += stride, unit -= consumers)
      for (; unit < consumers; unit += producers) {
        const int turn = tile % 2, to = unit / 4;
        if (tile >= 2) barrier_wait(shared.rows_empty(to, turn), tile / 2 % 2 ^ 1);
        make_ready(x, scoring, a.labels, block + 16 * unit, unit % 4, shared.shifts(), shared.left(to, turn),
                   shared.known(to, turn));
        if (arrives_for_warp(lane)) barrier_arrive(shared.rows_full(to, turn));
      }
    return;
  }
  take_registers<registers_left(policy.threads(), 32 * (policy.warps - consumers), kept)>();
  score_rows(a, shared, bound, warp);
}
