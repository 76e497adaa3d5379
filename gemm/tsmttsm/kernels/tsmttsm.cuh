// C = alpha op(A) B + beta C for tall A (n x TS_P) and B (n x TS_Q), and C = alpha op(A) A + beta C
// (TS_GRAM).
//
// One persistent block a multiprocessor. Producer warps keep a ring of stages filled with chunks of rows;
// consumer warps multiply them by tensor instructions: TS_SLICES groups of warps take different rows of a
// chunk, the warps of a group different 16 TS_TILES_L x 8 TS_TILES_R tiles of the product. At the end slices,
// folds and the parts of complex products are added within the block, then over the blocks in fixed order: by
// clusters (TS_CLUSTER) where few rows make that way count, in fragments where these need no putting
// together. The factor on the left of the tensor instruction (its side of 16) is A, or B where TS_SWAP is 1.
//
// Complex products are real ones of twice the widths: (re, im) pairs are columns; the four real products are
// combined at the end. With TS_THREE there are three of the same widths (Gauss), by A' = A^T or A^H: A'r Br,
// A'i Bi and (A'r + A'i) (Br + Bi), which less the other two is the imaginary part. Sums in float32 move to
// float64 every TS_FLUSH steps (0: they are few enough to stay).
//
// Beside what inner.cuh asks for:
//   TS_STAGES
//   TS_PRODUCERS  warps that only fill; 0: the first consumer warp fills as well (more registers a thread)
//   TS_GIVE       whether these, four, give registers to the others, which then are whole warpgroups (sm_90a)
//   TS_TILES_L, TS_TILES_R, TS_WARPS_L, TS_WARPS_R, TS_SLICES
//   TS_THREE      three products for a complex one; columns of tiles are complex ones, vectors of 2
//   TS_PAIRS      those of a Gram matrix, shared out by tsmttsm_pairs.cuh
//
//   TS_RESIDENTS  blocks that share a multiprocessor
//   TS_CORE (see fragment.cuh), TS_FLUSH (steps between flushes)
#pragma once

#if TS_PAIRS
#include "tallskinny/gemm/tsmttsm/kernels/tsmttsm_pairs.cuh"
#else
#include "tallskinny/gemm/tsmttsm/kernels/tsmttsm_step.cuh"
#endif

constexpr int finishers = TS_GIVE ? 32 * consumers : threads;  ///< those that end together
constexpr int filler_registers = OperandA::in_bulk && OperandB::in_bulk ? 40 : 88;

/// Whether the product as it lies in units goes to the other blocks; otherwise its parts are put together
/// first.
constexpr bool direct = clustered && !TS_GRAM && !is_complex && TS_FOLD == 1 && TS_CORE != 1;
using Sum =
    typename Choose<direct, Totals<Kept, block_units * Unit::size, 1>, Totals<double, result_count, parts>>::type;

constexpr int stage_bytes = OperandA::stage_bytes + (TS_GRAM ? 0 : OperandB::stage_bytes);
constexpr int inbox_offset = 128;
constexpr int units_offset = round_up(inbox_offset + static_cast<int>(clustered ? sizeof(Sum::Inbox) : 0), 128);
constexpr int ring_offset = units_offset + (flushes ? consumers * units * 32 * 16 : 0);

extern "C" __global__ void TS_CLUSTER_DIMS __launch_bounds__(threads, TS_RESIDENTS)
    tsmttsm(OperandArgument a_argument, OperandArgument b_argument, int64 rows, int64 a_columns, Result* c,
            int64 c_row_stride, int64 c_column_stride, Result* mirror, Complex<double> alpha, Complex<double> beta,
            int adjoint, int panel_blocks, int group_size, double* partials, double* mailboxes, unsigned* tickets,
            PartsArgument sums_of_parts) {
  extern __shared__ __align__(128) unsigned char shared[];
  uint64* full = reinterpret_cast<uint64*>(shared);
  uint64* empty = full + TS_STAGES;
  unsigned char* ring = shared + ring_offset;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

  if (thread == 0) {
    const int arrivals = OperandA::arrivals(fillers) + (TS_GRAM ? 0 : OperandB::arrivals(fillers));
    for (int s = 0; s < TS_STAGES; ++s)
      barrier_init(full + s, arrivals), barrier_init(empty + s, consumers * warp_arrivals);
    barrier_init_fence();
  }
  const Part part = part_of(a_argument, b_argument, rows, a_columns, c, c_row_stride, panel_blocks, sums_of_parts);
  // Made when needed: registers are few in between.
  const auto totals = [&] {
    return totals_of<Sum>(part, shared + inbox_offset, partials, mailboxes, tickets, group_size);
  };
  totals().begin(thread == threads - 1);  // the first one has other barriers to initialise
  __syncthreads();

  const int64 chunks = part.chunks;
  const OperandA a(a_argument, rows);
#if !TS_GRAM
  const OperandB b(b_argument, rows);
#endif
  let_next_kernel_start();
  wait_for_earlier_kernels();
  const unsigned ticket = thread == threads - 1 ? totals().draw() : 0;

  RingPosition<TS_STAGES> to_fill;
  const auto fill = [&](int64 turn, int filler) {
    const int64 chunk = part.chunk_at(turn);
    unsigned char* stage = ring + to_fill.stage * stage_bytes;
    uint64* barrier = full + to_fill.stage;
    barrier_wait(empty + to_fill.stage, to_fill.parity ^ 1);
    a.fill(chunk, stage, barrier, filler, fillers);
#if !TS_GRAM
    b.fill(chunk, stage + OperandA::stage_bytes, barrier, filler, fillers);
#endif
    to_fill.advance();
  };

  Unit* const kept = reinterpret_cast<Unit*>(shared + units_offset);
  const auto mine = [&] { return kept + warp * (32 * units) + lane; };
  const double sign = adjoint ? -1 : 1;
  Sums sums;
  int left_tile = 0, right_tile = 0;
  if (warp >= consumers) {
#if TS_GIVE
    give_registers<filler_registers>();
#endif
    for (int64 chunk = part.block; chunk < chunks; chunk += part.blocks) fill(chunk, thread - 32 * consumers);
#if TS_GIVE
    return;
#endif
  } else {
#if TS_GIVE
    take_registers<registers_left(threads, 32 * TS_PRODUCERS, filler_registers)>();
#endif
    const int slice = warp / tiles, g = lane / 4, t = lane % 4;
    for (int i = 0, tile = warp % tiles; i < TS_WARPS_L * TS_WARPS_R; ++i)
      if (tile_needed(i / TS_WARPS_R, i % TS_WARPS_R) && tile-- == 0)
        left_tile = i / TS_WARPS_R, right_tile = i % TS_WARPS_R;

#if TS_GRAM
    const Left& left = a;
    const Right& right = a;
    constexpr int left_stage = 0, right_stage = 0;
#elif TS_SWAP
    const Left& left = b;
    const Right& right = a;
    constexpr int left_stage = OperandA::stage_bytes, right_stage = 0;
#else
    const Left& left = a;
    const Right& right = b;
    constexpr int left_stage = 0, right_stage = OperandA::stage_bytes;
#endif
    int left_offset[left_vectors], right_offset[right_vectors];
    Reach reach;
#if TS_PAIRS
    find_columns(left_offset, right_offset, reach, left, right, left_stage, right_stage, slice * steps, right_tile, g,
                 t);
#else
#pragma unroll
    for (int i = 0; i < left_vectors; ++i)
      left_offset[i] =
          left_stage + slice * steps * Left::step_bytes +
          left.offset(t, vector_column<Left>(left_tile * tile_rows * column_scalars + i * 8 * Left::vector, g));
#pragma unroll
    for (int i = 0; i < right_vectors; ++i)
      right_offset[i] =
          right_stage + slice * steps * Right::step_bytes +
          right.offset(t, vector_column<Right>(right_tile * tile_columns * column_scalars + i * 8 * Right::vector, g));
#endif
    int since_flush = 0;
    sums.clear();
    if (flushes)
#pragma unroll 1
      for (int u = 0; u < units; ++u) mine()[32 * u] = Unit{};

    int64 next = part.block;  // to be filled, if this warp fills
    if (TS_PRODUCERS == 0 && warp == 0)
      for (int s = 0; s < TS_STAGES - 1 && next < chunks; ++s, next += part.blocks) fill(next, lane);

    RingPosition<TS_STAGES> at;
#if TS_THREE  // registers are few: one counts (no memory has rows for 2^31 chunks)
    for (int left_over = static_cast<int>((chunks - part.block + part.blocks - 1) / part.blocks); left_over > 0;
         --left_over) {
#else
    for (int64 chunk = part.block; chunk < chunks; chunk += part.blocks) {
#endif
      if (TS_PRODUCERS == 0 && warp == 0 && next < chunks) fill(next, lane), next += part.blocks;
      const unsigned char* stage = ring + at.stage * stage_bytes;
      barrier_wait(full + at.stage, at.parity);
#pragma unroll(TS_PAIRS ? 1 : 2)
      for (int s = 0; s < steps; ++s) {
        step(sums, stage + s * Left::step_bytes, stage + s * Right::step_bytes, left_offset, right_offset, reach, sign);
        if (flushes && ++since_flush == TS_FLUSH) sums.flush(mine()), since_flush = 0;
      }
      __syncwarp();
      if (arrives_for_warp(lane)) barrier_arrive(empty + at.stage);
      at.advance();
    }
    if (flushes) sums.flush(mine());
  }
  const Sum sum_of_blocks = totals();
  sum_of_blocks.meet();
  if (thread == threads - 1) sum_of_blocks.tell(ticket);

  // The units of all slices side by side (where sums were flushed to, or over the ring), then their sum.
  __syncthreads();
  if (!flushes) {
    if (warp < consumers) sums.keep(mine());
    __syncthreads();
  }
#pragma unroll 1
  for (int u = thread; u < block_units; u += finishers) {
    Unit sum = kept[u];
#pragma unroll
    for (int slice = 1; slice < TS_SLICES; ++slice) {
      const Unit more = kept[slice * block_units + u];
#pragma unroll
      for (int k = 0; k < Unit::size; ++k) sum.x[k] += more.x[k];
    }
    if constexpr (direct)
      sum_of_blocks.put_piece(u, sum.x);
    else if (TS_SLICES > 1)
      kept[u] = sum;
  }

  const Output out = output_of(part, c, c_row_stride, c_column_stride, mirror, alpha, beta, adjoint, sums_of_parts);
  if constexpr (direct) {
    sum_of_blocks.finish(thread, threads, [&](int number, const double* sum) {
      const int of_lane = number / Unit::size % 32, u = number / (32 * Unit::size), tile = u / units;
      const int value = u % units * Unit::size + number % Unit::size, product = value / 4;
      const int l = tile / TS_WARPS_R * tile_rows +
                    column_of<Left::vector>(product / TS_TILES_R * 2 + value % 4 / 2, of_lane / 4);
      const int r = tile % TS_WARPS_R * tile_columns +
                    column_of<Right::vector>(product % TS_TILES_R, of_lane % 4 * 2 + value % 2);
      if (l < Left::folded && r < Right::folded) out.store(TS_SWAP ? r : l, TS_SWAP ? l : r, {sum[0], 0});
    });
  } else {
    __syncthreads();
    finish(sum_of_blocks, out, part, a_argument, b_argument, rows, finishers, [&](int l, int r) -> double {
#if TS_THREE
      // What the cross products come to stands for that of a real column of A and an imaginary one of B; the
      // other is 0.
      const int i = l / 2, j = r / 2;
      if (l % 2 == r % 2) return kept_at(kept, l % 2, i, j);
      if ((TS_SWAP ? r : l) % 2 == 1) return 0;
      const double cross = kept_at(kept, 2, i, j) - kept_at(kept, 0, i, j) - sign * kept_at(kept, 1, i, j);
      return TS_GRAM && i == j ? cross / 2 : cross;  // on the diagonal both are this one
#else
      return kept_at(kept, 0, l, r);
#endif
    });
  }
}
