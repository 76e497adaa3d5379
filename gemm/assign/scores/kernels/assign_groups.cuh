// As assign_scores, for wide rows or many centroids (sm_90a): a warpgroup has 64 rows, as float16 parts in
// shared memory, and takes chunks of policy.chunk centroids that one warp lets the copy engine bring from the
// caches into a ring, all for each tile of rows. Of wide rows, which would leave the ring too little memory,
// the first policy.held steps are in registers. Where registers are few, that warp comes with three more, whose
// registers others take. Scores stay in the accumulators; a lane has 2 rows, and 2 of every 8 columns.
#include "tallskinny/gemm/assign/scores/kernels/assign_keys.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_load.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_settle.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_wgmma.cuh"

constexpr int steps = policy.steps, slots = 2, chunks = policy.centroids / policy.chunk, blocks_of_8 = policy.chunk / 8;
constexpr bool paired = true;
constexpr int group_rows = ts::cuda::group_rows, block_rows = group_rows * policy.groups,
              consumers = policy.consumers();
constexpr int stage_steps = policy.stage_steps, stages_of_chunk = steps / stage_steps;
constexpr int right_step = ts::cuda::step_bytes * policy.chunk, right_part = stage_steps * right_step,
              stage_bytes = policy.stage_bytes();
constexpr int left_step = ts::cuda::step_bytes * group_rows, left_part = policy.left_part();
constexpr int held_stages = policy.held / stage_steps, held_steps = policy.held > 0 ? policy.held : 1;
constexpr bool gives = policy.warps == consumers + 4;
static_assert(policy.held % stage_steps == 0 && policy.held % 2 == 0,
              "whole stages, and 32 columns at a time, are held");
static_assert(policy.held == 0 || policy.parts == 1, "upper parts alone are held");
constexpr int index_bits = bits_for(2 * blocks_of_8);
#include "tallskinny/gemm/assign/scores/kernels/assign_best.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_segments.cuh"

struct Ring {
  unsigned char* memory;
  uint64 *full, *empty;
};

/// One thread brings all chunks for so many tiles of rows.
__device__ __forceinline__ void produce(const Ring& ring, const unsigned char* fragments, int64 rounds) {
  RingPosition<policy.stages> at;
  uint32 filled = 0;
  for (int64 round = 0; round < rounds; ++round)
    for (int c = 0; c < chunks; ++c)
      for (int stage = 0; stage < stages_of_chunk; ++stage, at.advance()) {
        if (filled == policy.stages)
          barrier_wait(&ring.empty[at.stage], at.parity ^ 1);
        else
          ++filled;
        barrier_arrive_expecting(&ring.full[at.stage], stage_bytes);
        // Of each chunk first the upper parts of all steps, then the lower ones.
        const unsigned char* const from =
            fragments + static_cast<int64>(c) * 2 * steps * right_step + stage * right_part;
#pragma unroll
        for (int part = 0; part < policy.parts; ++part)
          bulk_load(ring.memory + at.stage * stage_bytes + part * right_part, from + part * steps * right_step,
                    right_part, &ring.full[at.stage]);
      }
}

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

/// What a warp's 16 rows become in registers and in shared memory, and what its lanes know of their norms. The
/// row at position 2g + s is the row g + 8s of the warp's 16, of which the lanes of quad g get to know the
/// scores.
__device__ __forceinline__ void load_left(uint32 (&held)[held_steps][4], unsigned char* left, const Rows& x, int64 mine,
                                          const Shift* shifts, double scale, Row (&row)[slots]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, g = lane / 4, q = lane % 4;
  constexpr int at_once = sizeof(Element) == 8 ? 2 : 4, held_at_once = 2;  // beside what is held
  constexpr int segments = 2 * steps, held_segments = 2 * policy.held;
  float squared[slots] = {}, rest[slots] = {};
  const Element* from[slots];
#pragma unroll
  for (int s = 0; s < slots; ++s) {
    const int64 i = __shfl_sync(everyone, mine, 2 * g + s);
    from[s] = row_of(x, i < 0 ? 0 : i);
  }
#pragma unroll 1
  for (int begin = held_segments + q; begin < segments; begin += 4 * at_once) {
    Element raw[at_once][slots][8];
#pragma unroll
    for (int o = 0; o < at_once; ++o)
#pragma unroll
      for (int s = 0; s < slots; ++s) load_segment(raw[o][s], from[s], begin + 4 * o);
#pragma unroll
    for (int o = 0; o < at_once; ++o) {
      const int segment = begin + 4 * o;
      if (segment >= segments) break;
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        uint32 high[4], low[4];
        split_segment(raw[o][s], segment, shifts, scale, squared[s], rest[s], high, low);
        unsigned char* const to = left + (segment - held_segments) * (16 * group_rows) + (16 * warp + g + 8 * s) * 16;
        *reinterpret_cast<uint4*>(to) = {high[0], high[1], high[2], high[3]};
        if (policy.parts == 2) *reinterpret_cast<uint4*>(to + left_part) = {low[0], low[1], low[2], low[3]};
      }
    }
  }
#pragma unroll
  for (int begin = 0; begin < held_segments; begin += 4 * held_at_once) {
    Element raw[held_at_once][slots][8];
#pragma unroll
    for (int o = 0; o < held_at_once; ++o)
#pragma unroll
      for (int s = 0; s < slots; ++s)
        if (begin + 4 * o < held_segments) load_segment(raw[o][s], from[s], begin + 4 * o + q);
#pragma unroll
    for (int o = 0; o < held_at_once; ++o)
#pragma unroll
      for (int s = 0; s < slots; ++s) {
        const int segment = begin + 4 * o;
        if (segment >= held_segments) continue;
        uint32 high[4], low[4];
        split_segment(raw[o][s], segment + q, shifts, scale, squared[s], rest[s], high, low);
        transpose(high);
#pragma unroll
        for (int i = 0; i < 4; ++i) held[(segment + i) / 2][i % 2 * 2 + s] = high[i];
      }
  }
#pragma unroll
  for (int s = 0; s < slots; ++s) row[s] = {3e30f, 3e30f, squared[s], rest[s], 0, 3e30f, 0};
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Lets the caches fetch a row, or how it begins, while there is arithmetic to be done.
__device__ __forceinline__ void fetch_ahead(const Rows& x, int64 row) {
  constexpr uint32 bytes = policy.ahead;
  if (!policy.ahead || row < 0) return;
  const char* const from = reinterpret_cast<const char*>(row_of(x, row));
  if (policy.alignment == 16 && bytes % 16 == 0)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "n"(bytes / 16 * 16) : "memory");
  else
    for (uint32 at = 0; at < bytes; at += 128) asm volatile("prefetch.global.L2 [%0];" ::"l"(from + at));
}
__device__ __forceinline__ void group_barrier() {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + static_cast<int>(threadIdx.x) / 128) : "memory");
}

/// Starts product = (product +) the products of a stage.
__device__ __forceinline__ void multiply(float (&product)[4 * blocks_of_8], const unsigned char* left,
                                         const unsigned char* right, int add) {
  wgmma_fence();
  if constexpr (policy.parts == 2) {  // first what is small, since instructions truncate
#pragma unroll
    for (int step = 0; step < stage_steps; ++step) {
      WgmmaHalf<blocks_of_8>::multiply(product, wgmma_descriptor(left + step * left_step, group_rows),
                                       wgmma_descriptor(right + right_part + step * right_step, policy.chunk),
                                       add + step);
      WgmmaHalf<blocks_of_8>::multiply(product, wgmma_descriptor(left + left_part + step * left_step, group_rows),
                                       wgmma_descriptor(right + step * right_step, policy.chunk), 1);
    }
  }
#pragma unroll
  for (int step = 0; step < stage_steps; ++step)
    WgmmaHalf<blocks_of_8>::multiply(product, wgmma_descriptor(left + step * left_step, group_rows),
                                     wgmma_descriptor(right + step * right_step, policy.chunk),
                                     policy.parts == 2 ? 1 : add + step);
  wgmma_commit();
}

/// The same of a stage whose left factors are in registers.
__device__ __forceinline__ void multiply(float (&product)[4 * blocks_of_8], const uint32 (&held)[held_steps][4],
                                         int first, const unsigned char* right) {
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < stage_steps; ++step)
    WgmmaHalf<blocks_of_8>::multiply(product, held[first + step],
                                     wgmma_descriptor(right + step * right_step, policy.chunk), first + step);
  wgmma_commit();
}

extern "C" __global__ void __launch_bounds__(32 * policy.warps, policy.blocks)
    assign_groups(ts::cuda::ScoresArguments a) {
  const auto& [x, selection, of_centroids, origins, per_unit, one, largest, shift, scale, labels, undecided, pairs,
               margin, sums, counts] = a;
  const auto* const fragments = static_cast<const unsigned char*>(of_centroids);
  const uint32 places = one << index_bits;
  extern __shared__ __align__(128) unsigned char memory[];
  uint64* const barriers = reinterpret_cast<uint64*>(memory + policy.barriers_at());
  const Ring ring{memory, barriers, barriers + policy.stages};
  Shift* const shifts = reinterpret_cast<Shift*>(memory + policy.shifts_at());
  Settle settle{x, selection, sums, labels, undecided, nullptr};
  const int64 count = count_of(selection, x);
  for (int j = threadIdx.x; j < 16 * steps; j += 32 * policy.warps)
    shifts[j] = shift_of(j < policy.d ? shift[j] : 0, scale);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < policy.stages; ++stage) {
      barrier_init(&ring.full[stage], 1);
      barrier_init(&ring.empty[stage], consumers);
    }
    barrier_init_fence();
  }
  __syncthreads();
  const int warp = __shfl_sync(everyone, threadIdx.x / 32, 0), lane = threadIdx.x % 32, group = warp / 4;
  const int64 stride = static_cast<int64>(gridDim.x) * block_rows, begin = static_cast<int64>(blockIdx.x) * block_rows;
  if (warp >= consumers) {
    if constexpr (gives) give_registers<policy.producer_registers>();
    if (warp == consumers && lane == 0 && begin < count)
      produce(ring, fragments, (count - begin + stride - 1) / stride);
    return;
  }
  if constexpr (gives) take_registers<registers_left(32 * policy.warps, 128, policy.producer_registers)>();
  const Bound bound =
      bound_of_parts(*largest, policy.d, policy.parts, policy.parts == 2 ? stage_steps : steps, stages_of_chunk);
  unsigned char* const left = memory + policy.left_at() + group * policy.left_bytes();
  RingPosition<policy.stages> at;
  for (int64 block = begin; block < count; block += stride) {
    const int64 first = block + warp * 16;
    const int64 mine = lane < 16 ? settle.row(first + lane, count) : -1;
    const int before = settle.before(mine);
    Row row[slots];
    uint32 held[held_steps][4];
    // It also tells the compiler that warps are whole: all shuffles would have a second way otherwise.
    group_barrier();
    load_left(held, left, x, mine, shifts, scale, row);
    fetch_ahead(x, lane < 16 ? settle.row(first + stride + lane, count) : -1);
    group_barrier();
#pragma unroll 1
    for (int c = 0; c < chunks; ++c) {
      float product[4 * blocks_of_8];
      if constexpr (policy.parts == 1) {
        int previous = 0;
        const auto arrived = [&] {
          barrier_wait(&ring.full[at.stage], at.parity);
          return ring.memory + at.stage * stage_bytes;
        };
        // With the products of a stage under way, the stage before it is given back once its own are done.
        const auto under_way = [&](int stage) {
          if (stage > 0) {
            wgmma_wait_but<1>();
            if (lane == 0) barrier_arrive(&ring.empty[previous]);
          }
          previous = at.stage;
          at.advance();
        };
#pragma unroll
        for (int stage = 0; stage < held_stages; ++stage) {
          multiply(product, held, stage * stage_steps, arrived());
          under_way(stage);
        }
        if (held_stages == 0) {
          multiply(product, left, arrived(), 0);
          under_way(0);
        }
#pragma unroll 1
        for (int stage = held_stages > 0 ? held_stages : 1; stage < stages_of_chunk; ++stage) {
          multiply(product, left + (stage - held_stages) * stage_steps * left_step, arrived(), 1);
          under_way(stage);
        }
        wgmma_wait();
        if (lane == 0) barrier_arrive(&ring.empty[previous]);
        keep(product);
      } else {
        // Instructions truncate: what stages leave is added up with rounding.
#pragma unroll
        for (int i = 0; i < 4 * blocks_of_8; ++i) product[i] = 0;
#pragma unroll 1
        for (int stage = 0; stage < stages_of_chunk; ++stage) {
          float part[4 * blocks_of_8];
          barrier_wait(&ring.full[at.stage], at.parity);
          multiply(part, left + stage * stage_steps * left_step, ring.memory + at.stage * stage_bytes, 0);
          wgmma_wait();
          if (lane == 0) barrier_arrive(&ring.empty[at.stage]);
          at.advance();
          keep(part);
#pragma unroll
          for (int i = 0; i < 4 * blocks_of_8; ++i) product[i] += part[i];
        }
      }
      uint32 best[slots] = {~0u, ~0u}, second[slots] = {~0u, ~0u}, third[slots] = {~0u, ~0u};
      const float2* const from = reinterpret_cast<const float2*>(origins + c * policy.chunk) + lane % 4;
#pragma unroll
      for (int b = 0; b < blocks_of_8; ++b) {
        const float2 origin = __ldg(from + 4 * b);
#pragma unroll
        for (int s = 0; s < slots; ++s)
          take(key_of(origin.x + product[4 * b + 2 * s], places, 2 * b),
               key_of(origin.y + product[4 * b + 2 * s + 1], places, 2 * b + 1), best[s], second[s], third[s]);
      }
#pragma unroll
      for (int s = 0; s < slots; ++s)
        also(row[s], {score_of(best[s]), score_of(second[s]), 0, 0, label_of(best[s], c * policy.chunk),
                      score_of(third[s]), label_of(second[s], c * policy.chunk)});
    }
    if (first >= count) continue;
    const Row all = collect(row, 0);
    const float open = open_within(bound, all, per_unit, margin);
    const bool certain = all.second - all.best > open, of_two = !policy.margin && all.third - all.best > open;
    if (!policy.margin && mine >= 0) pairs.of_row[mine] = of_two ? Pair{all.label, all.other} : Pair{-1, -1};
    if constexpr (policy.parts == 1 && !policy.margin) {
      settle.mark<16>(pairs.marks, first, mine >= 0 && of_two && !certain);
      settle.settle<16>(first, mine, before, all.label, certain, !of_two);
    } else {
      settle.settle<16>(first, mine, before, all.label, certain);
    }
  }
  settle.end(counts);
}
