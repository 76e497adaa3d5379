// What a block of tsmttsm.cuh and tsmttsm_cluster.cuh does.
//
// One persistent block a multiprocessor. Producer warps keep a ring of stages filled with chunks of rows;
// consumer warps multiply them by tensor instructions: slices of them take different rows of a chunk, the warps of a
// slice different tiles of the product. At the end slices, folds and the parts of complex products are added within the
// block, then over the blocks in fixed order: by clusters where few rows make that way count, in fragments where these
// need no putting together.
//
// Complex products are real ones of twice the widths: (re, im) pairs are columns; the four real products are
// combined at the end. With policy.three there are three of the same widths (Gauss), by A' = A^T or A^H: A'r Br,
// A'i Bi and (A'r + A'i) (Br + Bi), which less the other two is the imaginary part.
#pragma once

#include "tallskinny/gemm/tsmttsm/kernels/tsmttsm_pairs.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/tsmttsm_step.cuh"

using Sharing = Choose<policy.pairs, PairSharing<Fragment>, TileSharing<Fragment>>::type;

constexpr int finishers = policy.give ? 32 * consumers : threads;  ///< those that end together
constexpr int filler_registers = policy.filler_registers(OperandA::in_bulk && OperandB::in_bulk);

/// Whether the product as it lies in units goes to the other blocks; otherwise its parts are put together
/// first.
constexpr bool direct = clustered && policy.sends_fragments();
using Sum = Choose<direct, Totals<Kept, block_units * Unit::size, 1>, Totals<double, result_count, parts>>::type;
static_assert(!clustered ||
              (sizeof(Sum::Inbox) == policy.inbox_bytes() && sizeof(Sum::Inbox) <= policy.inbox_reserve()));

/// The ring of a block, and how it is filled.
struct Ring {
  const OperandA& a;
  const OperandB& b;
  const Part& part;
  unsigned char* stages;
  uint64 *full, *empty;
  RingPosition<policy.stages> to_fill = {};

  __device__ __forceinline__ void fill(int64 turn, int filler) {
    const int64 chunk = part.chunk_at(turn);
    unsigned char* stage = stages + to_fill.stage * policy.stage_bytes();
    uint64* barrier = full + to_fill.stage;
    barrier_wait(empty + to_fill.stage, to_fill.parity ^ 1);
    a.fill(chunk, stage, barrier, filler, fillers);
    if constexpr (!policy.gram) b.fill(chunk, stage + OperandA::stage_bytes, barrier, filler, fillers);
    to_fill.advance();
  }
};

/// A consumer warp's way through all chunks; `mine` are this lane's units in shared memory.
__device__ __forceinline__ void consume(Ring& ring, Sums& sums, Unit* mine, const InnerArguments& arguments, int warp,
                                        int lane) {
  const Part& part = ring.part;
  int left_tile = 0, right_tile = 0;
  const int slice = warp / tiles;
  for (int i = 0, tile = warp % tiles; i < policy.warps_left * policy.warps_right; ++i)
    if (policy.tile_needed(i / policy.warps_right, i % policy.warps_right) && tile-- == 0)
      left_tile = i / policy.warps_right, right_tile = i % policy.warps_right;
  const Sharing::Columns columns =
      Sharing::find_columns(pick<policy.swap>(ring.b, ring.a), pick < policy.swap || policy.gram > (ring.a, ring.b),
                            slice * steps, left_tile, right_tile, lane);
  int since_flush = 0;
  sums.clear();
  if (flushes)
#pragma unroll 1
    for (int u = 0; u < units; ++u) mine[32 * u] = Unit{};

  int64 next = part.block;  // to be filled, if this warp fills
  if (policy.producers == 0 && warp == 0)
    for (int s = 0; s < policy.stages - 1 && next < part.chunks; ++s, next += part.blocks) ring.fill(next, lane);

  RingPosition<policy.stages> at;
  const auto use_chunk = [&] {
    if (policy.producers == 0 && warp == 0 && next < part.chunks) ring.fill(next, lane), next += part.blocks;
    const unsigned char* stage = ring.stages + at.stage * policy.stage_bytes();
    barrier_wait(ring.full + at.stage, at.parity);
#pragma unroll(policy.pairs ? 1 : 2)
    for (int s = 0; s < steps; ++s) {
      const double sign = arguments.adjoint ? -1 : 1;
      Sharing::step(sums, stage + s * Left::step_bytes, stage + s * Right::step_bytes, columns, sign);
      if (flushes && ++since_flush == policy.flush) sums.flush(mine), since_flush = 0;
    }
    __syncwarp();
    if (arrives_for_warp(lane)) barrier_arrive(ring.empty + at.stage);
    at.advance();
  };
  if constexpr (policy.three)  // registers are few: one counts (no memory has rows for 2^31 chunks)
    for (int left_over = static_cast<int>((part.chunks - part.block + part.blocks - 1) / part.blocks); left_over > 0;
         --left_over)
      use_chunk();
  else
    for (int64 chunk = part.block; chunk < part.chunks; chunk += part.blocks) use_chunk();
  if (flushes) sums.flush(mine);
}

/// The sum over slices of what they keep side by side: to the other blocks, or in the place of the first slice.
__device__ __forceinline__ void add_slices(Unit* kept, const Sum& sum_of_blocks, int thread) {
#pragma unroll 1
  for (int u = thread; u < block_units; u += finishers) {
    Unit sum = kept[u];
#pragma unroll
    for (int slice = 1; slice < policy.slices; ++slice) {
      const Unit more = kept[slice * block_units + u];
#pragma unroll
      for (int k = 0; k < Unit::size; ++k) sum.x[k] += more.x[k];
    }
    if constexpr (direct)
      sum_of_blocks.put_piece(u, sum.x);
    else if (policy.slices > 1)
      kept[u] = sum;
  }
}

/// C from fragments.
template <class Totals>
__device__ __forceinline__ void finish_fragments(const Totals& sum_of_blocks, const Output& out, int thread) {
  sum_of_blocks.finish(thread, threads, [&](int number, const double* sum) {
    const int of_lane = number / Unit::size % 32, u = number / (32 * Unit::size), tile = u / units;
    const int value = u % units * Unit::size + number % Unit::size, product = value / 4;
    const int l = tile / policy.warps_right * tile_rows +
                  column_of<Left::vector>(product / tiles_right * 2 + value % 4 / 2, of_lane / 4);
    const int r = tile % policy.warps_right * tile_columns +
                  column_of<Right::vector>(product % tiles_right, of_lane % 4 * 2 + value % 2);
    if (l < Left::folded && r < Right::folded) out.store(policy.swap ? r : l, policy.swap ? l : r, {sum[0], 0});
  });
}

/// The real product of folded columns l of the left factor and r of the right one.
__device__ __forceinline__ double real_product(const Unit* kept, int l, int r, [[maybe_unused]] double sign) {
  if constexpr (policy.three) {
    // What the cross products come to stands for that of a real column of A and an imaginary one of B; the
    // other is 0.
    const int i = l / 2, j = r / 2;
    if (l % 2 == r % 2) return Sharing::kept_at(kept, l % 2, i, j);
    if ((policy.swap ? r : l) % 2 == 1) return 0;
    const double cross =
        Sharing::kept_at(kept, 2, i, j) - Sharing::kept_at(kept, 0, i, j) - sign * Sharing::kept_at(kept, 1, i, j);
    return policy.gram && i == j ? cross / 2 : cross;  // on the diagonal both are this one
  } else {
    return Sharing::kept_at(kept, 0, l, r);
  }
}

__device__ __forceinline__ void run_block(const InnerArguments& arguments) {
  extern __shared__ __align__(128) unsigned char shared[];
  uint64* full = reinterpret_cast<uint64*>(shared);
  uint64* empty = full + policy.stages;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

  if (thread == 0) {
    const int arrivals = OperandA::arrivals(fillers) + (policy.gram ? 0 : OperandB::arrivals(fillers));
    for (int s = 0; s < policy.stages; ++s)
      barrier_init(full + s, arrivals), barrier_init(empty + s, consumers * warp_arrivals);
    barrier_init_fence();
  }
  const Part part = part_of(arguments);
  // Made when needed: registers are few in between.
  const auto totals = [&] { return totals_of<Sum>(part_of(arguments), shared + policy.barrier_bytes, arguments); };
  totals().begin(thread == threads - 1);  // the first one has other barriers to initialise
  __syncthreads();

  const OperandA a(part.a, part.rows);
  const OperandB b(policy.gram ? part.a : part.b, part.rows);
  let_next_kernel_start();
  wait_for_earlier_kernels();
  const unsigned ticket = thread == threads - 1 ? totals().draw() : 0;

  Ring ring{a, b, part, shared + policy.ring_offset(clustered), full, empty};
  Unit* const kept = reinterpret_cast<Unit*>(shared + policy.sums_offset(clustered));
  Sums sums;
  if (warp >= consumers) {
    if constexpr (policy.give) give_registers<filler_registers>();
    for (int64 chunk = part.block; chunk < part.chunks; chunk += part.blocks) ring.fill(chunk, thread - 32 * consumers);
    if constexpr (policy.give) return;
  } else {
    if constexpr (policy.give) take_registers<registers_left(threads, 32 * policy.producers, filler_registers)>();
    consume(ring, sums, kept + warp * (32 * units) + lane, arguments, warp, lane);
  }
  const Sum sum_of_blocks = totals();
  sum_of_blocks.meet();
  if (thread == threads - 1) sum_of_blocks.tell(ticket);

  // The units of all slices side by side (where sums were flushed to, or over the ring), then their sum.
  __syncthreads();
  if (!flushes) {
    if (warp < consumers) sums.keep(kept + warp * (32 * units) + lane);
    __syncthreads();
  }
  add_slices(kept, sum_of_blocks, thread);
  const Output out = output_of(part_of(arguments), arguments);
  if constexpr (direct) {
    finish_fragments(sum_of_blocks, out, thread);
  } else {
    __syncthreads();
    const double sign = arguments.adjoint ? -1 : 1;
    finish(sum_of_blocks, out, arguments, finishers, [&](int l, int r) { return real_product(kept, l, r, sign); });
  }
}
