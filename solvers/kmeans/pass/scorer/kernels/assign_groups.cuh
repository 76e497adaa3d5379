// Scores like assign_scores, for wide rows or many centroids (sm_90a). A warpgroup has 64 rows, as float16 parts in
// shared memory, and takes chunks of policy.chunk centroids for each tile of rows. One warp lets the copy engine bring
// chunks from the caches into a ring. Scores stay in the accumulators; a lane has 2 rows, and 2 of every 8 columns.
// Left and right operands lie as wgmma.cuh says: 16 bytes hold eight K of a row or of a centroid. From registers, a
// lane has (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8) of its warp's 16 rows, and of each the next K.
//
// policy.producers: so many warps only make the next rows ready, and warpgroups only multiply and compare scores; a
// stage of the ring is a chunk. policy.confirms: the kernel only finds which rows keep their labels
// (assign_confirm.cuh). Without producers, groups make their own rows ready. Wide rows would leave the ring too little
// memory: their first policy.held steps are in registers. Where registers are few, the warp of the ring comes with
// three more, whose registers others take.
#include "tallskinny/gemm/device/wgmma.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_keys.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_labels.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_load.cuh"

using Arguments = ts::cuda::ScoresArguments;
/// Two scores that are left mostly belong to different lanes or chunks: a third of a chunk is scored again anyway.
constexpr bool produced = policy.producers > 0, paired = !produced,
               thirds = paired && (policy.parts == 2 || policy.listed);
constexpr int steps = policy.all_steps(), slots = 2, chunks = policy.centroids / policy.chunk,
              blocks_of_8 = policy.chunk / 8;
constexpr int groups = policy.groups, consumers = policy.consumers();
constexpr int group_rows = ts::cuda::group_rows, block_rows = group_rows * groups;
constexpr int stage_steps = policy.stage_steps, stages_of_chunk = steps / stage_steps;
constexpr int right_step = ts::cuda::step_bytes * policy.chunk, right_part = stage_steps * right_step,
              stage_bytes = policy.stage_bytes();
/// Layout of a chunk: first the upper parts of all steps, then the lower ones.
constexpr int chunk_bytes = (policy.confirms ? 1 : 2) * steps * right_step;
constexpr int left_step = ts::cuda::step_bytes * group_rows, left_part = policy.left_part();
/// Steps of rows that multiply from registers, whole stages unless they come from shared memory.
constexpr int held_stages = produced ? 0 : policy.held / stage_steps, held_steps = policy.held > 0 ? policy.held : 1;
static_assert(produced || (policy.held % stage_steps == 0 && policy.held % 2 == 0),
              "whole stages, and 32 columns at a time, are held");
static_assert(policy.held == 0 || policy.parts == 1, "upper parts alone are held");
constexpr int index_bits = bits_for(2 * blocks_of_8);
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_best.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_candidates.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_confirm.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_ready.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/bounds_gaps.cuh"

/// Keeps the compiler from reading accumulators before this point.
__device__ __forceinline__ void keep(float (&product)[4 * blocks_of_8]) {
#pragma unroll
  for (int i = 0; i < 4 * blocks_of_8; ++i) asm volatile("" : "+f"(product[i])::"memory");
}

/// The 16 columns from `left` on of a warp's 16 rows, as tensor instructions have them in registers.
__device__ __forceinline__ void load_fragment(uint32 (&rows)[4], const unsigned char* left, int quarter) {
  const int lane = threadIdx.x % 32;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(rows[0]), "=r"(rows[1]), "=r"(rows[2]), "=r"(rows[3])
               : "r"(shared_address(left + lane / 16 * (16 * group_rows) + (16 * quarter + lane % 16) * 16))
               : "memory");
}

/// Waits until at most Stages that were committed are under way.
template <int Stages>
__device__ __forceinline__ void wgmma_wait_but() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Stages) : "memory");
}

/// Starts product = (product +) the products of a stage whose first step is the step `first` of the rows: those that
/// are held from registers, others from `left` on. Both descriptors count bytes in sixteens.
__device__ __forceinline__ void multiply(float (&product)[4 * blocks_of_8], const uint32 (&held)[held_steps][4],
                                         int first, uint64 left, uint64 right, int add) {
  using Instruction = Wgmma<blocks_of_8>;
  constexpr int next_left = left_step / 16, next_right = (policy.listed ? ts::cuda::step_bytes : right_step) / 16;
  wgmma_fence();
  if constexpr (policy.parts == 2) {  // first what is small, since instructions truncate
#pragma unroll
    for (int step = 0; step < stage_steps; ++step) {
      Instruction::multiply_f16<0>(product, left + step * next_left, right + right_part / 16 + step * next_right,
                                   add + step);
      Instruction::multiply_f16<0>(product, left + left_part / 16 + step * next_left, right + step * next_right, 1);
    }
  }
#pragma unroll
  for (int step = 0; step < stage_steps; ++step) {
    const int adds = policy.parts == 2 ? 1 : add + step;
    if (first + step < policy.held)
      Instruction::multiply_f16(product, held[first + step < held_steps ? first + step : 0], right + step * next_right,
                                adds);
    else
      Instruction::multiply_f16<0>(product, left + step * next_left, right + step * next_right, adds);
  }
  wgmma_commit();
}

/// product = rows times the next chunk of centroids in the ring.
__device__ __forceinline__ void multiply_chunk(float (&product)[4 * blocks_of_8], const uint32 (&held)[held_steps][4],
                                               uint64 left, const Shared& shared, RingPosition<policy.stages>& at) {
  const int lane = threadIdx.x % 32;
  // Bytes add to it in sixteens.
  const uint64 rights = policy.listed ? wgmma_descriptor_of_lines<right_line>(shared.memory)
                                      : wgmma_descriptor(shared.memory, policy.chunk);
  const auto right = [&] {
    barrier_wait(shared.stage_full(at.stage), at.parity);
    return rights + at.stage * (stage_bytes / 16);
  };
  const auto give_back = [&](int stage) {
    if (arrives_for_warp(lane)) barrier_arrive(shared.stage_empty(stage));
  };
  if constexpr (policy.parts == 1) {
    int previous = 0;
    // With the products of a stage under way, the stage before it is given back once its own are done.
    const auto under_way = [&](int stage) {
      if (stage > 0) {
        wgmma_wait_but<1>();
        give_back(previous);
      }
      previous = at.stage;
      at.advance();
    };
    constexpr int unrolled = held_stages > 0 ? held_stages : 1;
#pragma unroll
    for (int stage = 0; stage < unrolled; ++stage) {
      multiply(product, held, stage * stage_steps, left, right(), stage);
      under_way(stage);
    }
#pragma unroll 1
    for (int stage = unrolled; stage < stages_of_chunk; ++stage) {
      multiply(product, held, policy.held, left + (stage - held_stages) * (stage_steps * left_step / 16), right(), 1);
      under_way(stage);
    }
    wgmma_wait();
    give_back(previous);
    keep(product);
  } else {
    // Instructions truncate: what stages leave is added up with rounding.
#pragma unroll
    for (int i = 0; i < 4 * blocks_of_8; ++i) product[i] = 0;
#pragma unroll 1
    for (int stage = 0; stage < stages_of_chunk; ++stage) {
      float part[4 * blocks_of_8];
      multiply(part, held, 0, left + stage * (stage_steps * left_step / 16), right(), 0);
      wgmma_wait();
      give_back(at.stage);
      at.advance();
      keep(part);
#pragma unroll
      for (int i = 0; i < 4 * blocks_of_8; ++i) product[i] += part[i];
    }
  }
}

/// Takes the scores of a chunk, whose first centroid is `first`, into the results of a warp's rows.
__device__ __forceinline__ void take_chunk(const float (&product)[4 * blocks_of_8], const float* origins, int first,
                                           const Arguments& a, Below (&below)[slots], Row (&row)[slots]) {
  const uint32 places = a.one << index_bits;
  if constexpr (policy.collects) {
    collect_chunk(product, origins, first, a, row);
  } else if constexpr (policy.confirms) {
#pragma unroll
    for (int i = 0; i < 4 * blocks_of_8; i += 2) below[i / 2 % slots].add(product[i], product[i + 1]);
#pragma unroll
    for (int s = 0; s < slots; ++s) below[s].end_stretch();
  } else {
    Best found;
    const float2* const from = reinterpret_cast<const float2*>(origins + first) + threadIdx.x % 4;
#pragma unroll
    for (int b = 0; b < blocks_of_8; ++b) {
      const float2 origin = policy.listed || origins_here > 0 ? from[4 * b] : __ldg(from + 4 * b);
#pragma unroll
      for (int s = 0; s < slots; ++s)
        found.add(s, key_of(origin.x + product[4 * b + 2 * s], places, 2 * b),
                  key_of(origin.y + product[4 * b + 2 * s + 1], places, 2 * b + 1));
    }
#pragma unroll
    for (int s = 0; s < slots; ++s) also(row[s], found.of(s, first));
  }
}

/// All warps of a group.
__device__ __forceinline__ void group_barrier() {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + static_cast<int>(threadIdx.x) / 128) : "memory");
}

/// The chunks that a tile of rows is scored with; for listed centroids also the slot of the next chunk's origins.
struct Chunks {
  int count = chunks, slot = 0;
};

/// Scores a warp's rows, whose parts begin at `left`, against all chunks, and passes scores to `take`.
template <class Take>
__device__ __forceinline__ void score_chunks(Row (&row)[slots], Below (&below)[slots],
                                             const uint32 (&held)[held_steps][4], const unsigned char* left,
                                             const Arguments& a, const Shared& shared, RingPosition<policy.stages>& at,
                                             Chunks& of, const Take& take) {
  const uint64 lefts = wgmma_descriptor(left, group_rows);
#pragma unroll 1
  for (int c = 0; c < of.count; ++c) {
    float product[4 * blocks_of_8];
    multiply_chunk(product, held, lefts, shared, at);
    const int first = c * policy.chunk;
    const float* const origins = policy.listed      ? shared.slot(of.slot) - first
                                 : origins_here > 0 ? shared.origins()
                                                    : a.origins;
    take_chunk(product, origins, first, a, below, row);
    take(product, origins, first);
    if constexpr (policy.listed) of.slot = slot_after(of.slot);
  }
}

constexpr auto nothing_more = [](const float (&)[4 * blocks_of_8], const float*, int) {};

/// Labels of 16 rows that the warp made ready itself, or pairs of centroids, or marks.
__device__ __forceinline__ void write_own(LabelWriter& writer, const Arguments& a, const Bound& bound,
                                          const Row (&row)[slots], int64 first, int64 mine, int before) {
  const Row all = collect(row, 0);
  const float within = undecided_within(bound, all, a.per_unit);
  const bool certain = all.second - all.best > within, of_two = all.third - all.best > within;
  if constexpr (policy.listed) {
    const int* const numbers = a.lists.numbers + first / block_rows * a.lists.stride;
    const int label = mine >= 0 ? numbers[all.label] : 0, other = mine >= 0 ? numbers[all.other] : 0;
    if (mine >= 0)
      a.pairs.of_row[mine] = of_two ? Pair{label, other} : Pair{-2 - static_cast<int>(first / block_rows), -1};
    if (mine >= 0 && !certain)
      atomicOr((of_two ? a.pairs.marks : a.undecided) + mine / 32, 1u << mine % 32);  // by rows, not positions
    writer.move(mine, before, label, mine >= 0 && certain && label != before);
    return;
  }
  if (mine >= 0)
    a.pairs.of_row[mine] = of_two ? Pair{all.label, all.other} : Pair{-1, __float_as_int(__fadd_ru(all.best, within))};
  if constexpr (policy.parts == 1) {
    writer.mark<16>(a.pairs.marks, first, mine >= 0 && of_two && !certain);
    writer.write<16>(first, mine, before, all.label, certain, !of_two);
  } else {
    writer.write<16>(first, mine, before, all.label, certain);
  }
}

/// The warps that multiply and compare, with rows that they make ready themselves.
__device__ __forceinline__ void score_own_rows(const Arguments& a, const Shared& shared, const Bound& bound, int warp,
                                               const RowTiles& tiles) {
  const int lane = threadIdx.x % 32;
  LabelWriter writer{a.x, a.selection, a.sums, a.labels, a.undecided, nullptr};
  RingPosition<policy.stages> at;
  Chunks of;
  unsigned char* const left = shared.left(warp / 4, 0);
  for (int64 turn = tiles.begin; turn < tiles.count; turn += tiles.stride) {
    const int64 block = tiles.first(turn), first = block + warp * 16;
    const int64 mine = lane < 16 ? writer.row(first + lane, tiles.count) : -1;
    const int before = writer.before(mine);
    Row row[slots];
    Below unused[slots] = {};
    if constexpr (policy.listed) of.count = a.lists.counts[block / block_rows];
    uint32 held[held_steps][4];
    // The barrier also shows the compiler that warps are whole, as below.
    group_barrier();
    load_own(held, row, a.x, mine, left + 256 * (warp % 4), shared.shifts(), a.scale);
    if constexpr (policy.collects) limit_rows(row, a, first, mine);
    fetch_ahead(a.x, lane < 16 ? writer.row(tiles.first(turn + tiles.stride) + warp * 16 + lane, tiles.count) : -1);
    group_barrier();
    if constexpr (policy.bounded) {
      const int64 tile = block / block_rows;
      Gaps gaps(a, bound, row, first, tiles.count);
      score_chunks(row, unused, held, left, a, shared, at, of,
                   [&](const float(&product)[4 * blocks_of_8], const float* origins, int from) {
                     gaps.take(product, origins + from, a.lists.numbers + tile * a.lists.stride + from,
                               a.lists.bounds + tile * a.lists.stride, a.lists.none);
                   });
      gaps.leave(row, a.per_unit, a.lists.nearest, first, tiles.count);
    } else {
      score_chunks(row, unused, held, left, a, shared, at, of, nothing_more);
    }
    if constexpr (policy.collects)
      list_candidates_of(row, a, mine);
    else if (first < tiles.count)
      write_own(writer, a, bound, row, first, mine, before);
  }
  writer.end(a.counts);
}

/// Scores rows that producer warps make ready.
__device__ __forceinline__ void score_produced_rows(const Arguments& a, const Shared& shared, const Bound& bound,
                                                    int warp, const RowTiles& tiles) {
  const int lane = threadIdx.x % 32, group = warp / 4;
  const Selection everything{};
  LabelWriter writer{a.x, everything, a.sums, a.labels, a.undecided, nullptr};
  RingPosition<policy.stages> at;
  RingPosition<policy.row_stages()> turn;
  for (int64 block = tiles.begin; block < tiles.count; block += tiles.stride, turn.advance()) {
    const int64 first = block + warp * 16;
    const unsigned char* const left = shared.left(group, turn.stage);
    uint32 held[held_steps][4];
    barrier_wait(shared.rows_full(group, turn.stage), turn.parity);
#pragma unroll
    for (int step = 0; step < policy.held; ++step)
      load_fragment(held[step], left + 2 * step * (16 * group_rows), warp % 4);
    Below below[slots] = {};
    Row row[slots] = {{3e30f, 3e30f}, {3e30f, 3e30f}};
    Chunks of;
    score_chunks(row, below, held, left, a, shared, at, of, nothing_more);
    const int64 mine = lane < 16 ? writer.row(first + lane, tiles.count) : -1;
    int before = -1, label = -1;  // nothing moves
    bool certain;
    if constexpr (policy.confirms) {
      // Position 2g + s is the row s of quad g.
      certain = (__shfl_sync(everyone, with_only_one(below), lane / 2 * 4 % 32) >> lane % 2 & 1) != 0;
    } else {
      const Known known = shared.known(group, turn.stage)[warp % 4 * 16 + lane % 16];
      Row all = collect(row, 0);
      all.squared = known.squared, all.rest = known.rest;
      certain = all.second - all.best > undecided_within(bound, all, a.per_unit);
      before = known.label, label = all.label;
    }
    __syncwarp();
    if (arrives_for_warp(lane)) barrier_arrive(shared.rows_empty(group, turn.stage));
    if (first < tiles.count) writer.write<16>(first, mine, before, label, certain);
  }
  writer.end(a.counts);
}

extern "C" __global__ void __launch_bounds__(policy.threads(), policy.blocks)
    assign_groups(ts::cuda::ScoresArguments a) {
  constexpr int kept = policy.producer_registers();
  extern __shared__ __align__(1024) unsigned char memory[];
  const Shared shared{memory};
  shared.begin(a);
  RowTiles tiles{produced ? a.x.count : count_of(a.selection, a.x)};
  if constexpr (policy.bounded) tiles.schedule = a.lists.schedule;
  if (policy.parts == 2 && tiles.count < a.lists.few) return;
  const int warp = __shfl_sync(everyone, threadIdx.x / 32, 0);
  const Bound bound =
      bound_of_parts(*a.largest, policy.d, policy.parts, policy.parts == 2 ? stage_steps : steps, stages_of_chunk);
  if (warp >= consumers) {
    if constexpr (policy.gives()) give_registers<kept>();
    // Lanes part only in warps that end here: behind such a branch all shuffles would have a second way, for warps
    // that are not whole.
    if constexpr (policy.listed) {
      fill_listed<policy.fillers()>(shared, a, tiles, warp - consumers);
      return;
    }
    if (warp == consumers + policy.producers) {
      if (threadIdx.x % 32 == 0) fill_ring(shared, a.centroids, tiles);
      return;
    }
    if constexpr (produced) produce_rows(a, shared, bound, warp - consumers, tiles);
    return;
  }
  if constexpr (policy.gives())
    take_registers<registers_left(policy.threads(), 32 * (policy.warps - consumers), kept)>();
  if constexpr (produced)
    score_produced_rows(a, shared, bound, warp, tiles);
  else
    score_own_rows(a, shared, bound, warp, tiles);
}
