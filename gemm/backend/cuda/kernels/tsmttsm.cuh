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
// combined at the end. Sums in float32 move to float64 every TS_FLUSH steps (0: they are few enough to stay).
//
// Beside what inner.cuh asks for:
//   TS_STAGES
//   TS_PRODUCERS  warps that only fill; 0: the first consumer warp fills as well (more registers a thread)
//   TS_TILES_L, TS_TILES_R, TS_WARPS_L, TS_WARPS_R, TS_SLICES
//
//   TS_RESIDENTS  blocks that share a multiprocessor
//   TS_CORE (see fragment.cuh), TS_FLUSH (steps between flushes)
#pragma once

#include "inner.cuh"

constexpr int tile_rows = 16 * TS_TILES_L,
              tile_columns = 8 * TS_TILES_R;  ///< of a warp's part of the product
/// A Gram matrix needs the tiles on and above the diagonal alone.
__host__ __device__ constexpr bool tile_needed(int l, int r) {
  return !TS_GRAM || (r + 1) * tile_columns > l * tile_rows;
}
__host__ __device__ constexpr int count_tiles() {
  int count = 0;
  for (int l = 0; l < TS_WARPS_L; ++l)
    for (int r = 0; r < TS_WARPS_R; ++r) count += tile_needed(l, r);
  return count;
}
constexpr int tiles = count_tiles();
/// Which of the needed tiles this one is.
__device__ __forceinline__ int tile_number(int l, int r) {
  if (!TS_GRAM) return l * TS_WARPS_R + r;
  int number = 0;
  for (int i = 0; i < l * TS_WARPS_R + r; ++i) number += tile_needed(i / TS_WARPS_R, i % TS_WARPS_R);
  return number;
}
constexpr int consumers = tiles * TS_SLICES, threads = 32 * (consumers + TS_PRODUCERS);
constexpr int fillers = TS_PRODUCERS ? 32 * TS_PRODUCERS : 32;  ///< threads
constexpr int steps = TS_SUBS * TS_SUB_ROWS / 16 / TS_SLICES;   ///< of 16 rows, in a stage, for a slice
static_assert(steps * 16 * TS_SLICES == TS_SUBS * TS_SUB_ROWS, "slices take whole steps");

constexpr int values = TS_TILES_L * TS_TILES_R * 4;  ///< of a lane
constexpr bool flushes = TS_CORE > 0 && TS_FLUSH > 0;
using Kept = typename Choose<flushes, double, Accumulator>::type;  ///< sums in shared memory
/// Neighbouring values of a lane. A warp has `units` of each lane there, those of all lanes side by side.
struct alignas(16) Unit {
  static constexpr int size = 16 / sizeof(Kept);
  Kept x[size];
};
constexpr int units = values / Unit::size;
constexpr int block_units = tiles * units * 32;  ///< of a block's product

/// Whether the product as it lies in units goes to the other blocks; otherwise its parts are put together
/// first.
constexpr bool direct = clustered && !TS_GRAM && !is_complex && TS_FOLD == 1 && TS_CORE != 1;
using Sum = typename Choose<direct, Totals<Kept, block_units * Unit::size, 1>,
                            Totals<double, result_count, parts>>::type;

constexpr int stage_bytes = OperandA::stage_bytes + (TS_GRAM ? 0 : OperandB::stage_bytes);
constexpr int inbox_offset = 128;
constexpr int units_offset =
    round_up(inbox_offset + static_cast<int>(clustered ? sizeof(Sum::Inbox) : 0), 128);
constexpr int ring_offset = units_offset + (flushes ? consumers * units * 32 * 16 : 0);

/// Sums of one warp over its slice of rows.
struct Sums {
  AccumulatorTile c[TS_TILES_L][TS_TILES_R];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < values; ++i) at(i) = 0;
  }
  __device__ __forceinline__ Accumulator& at(int i) {
    return c[i / 4 / TS_TILES_R][i / 4 % TS_TILES_R][i % 4];
  }
  /// To this lane's units.
  __device__ __forceinline__ void keep(Unit* kept) {
#pragma unroll
    for (int u = 0; u < units; ++u) {
      Unit unit;
#pragma unroll
      for (int k = 0; k < Unit::size; ++k) unit.x[k] = at(u * Unit::size + k);
      kept[32 * u] = unit;
    }
  }
  /// Adds to this lane's units, and begins anew.
  __device__ __forceinline__ void flush(Unit* kept) {
#pragma unroll
    for (int u = 0; u < units; ++u) {
      Unit unit = kept[32 * u];
#pragma unroll
      for (int k = 0; k < Unit::size; ++k) unit.x[k] += at(u * Unit::size + k), at(u * Unit::size + k) = 0;
      kept[32 * u] = unit;
    }
  }
};

/// The column of a folded row that block `block` of 8 columns has at `index`.
template <int Vector>
__device__ __forceinline__ int column_of(int block, int index) {
  return block / Vector * (8 * Vector) + index * Vector + block % Vector;
}
/// The block that has a column, and the column's index there.
template <int Vector>
__device__ __forceinline__ int block_of(int column) {
  return column / (8 * Vector) * Vector + column % Vector;
}
template <int Vector>
__device__ __forceinline__ int index_of(int column) {
  return column % (8 * Vector) / Vector;
}
/// The first column of the vector that lane group g loads; lanes beyond the width repeat the last vector.
template <class Side>
__device__ __forceinline__ int vector_column(int first, int g) {
  constexpr int last = (Side::folded - 1) / Side::vector * Side::vector;
  const int column = first + g * Side::vector;
  return column < last ? column : last;
}

/// The columns that this lane loads at once, of its four rows of a step.
template <class Side>
__device__ __forceinline__ void load(const unsigned char* from, Fragment (&x)[Side::vector]) {
  if constexpr (Side::by_columns)
    load_rows_of(from, x);
  else
    load_columns_of<Side::vector, Side::row_bytes>(from, x);
}

/// One step: 16 rows of a warp's tile.
__device__ __forceinline__ void step(Sums& sums, const unsigned char* left, const unsigned char* right,
                                     const int (&left_offset)[2 * TS_TILES_L / Left::vector],
                                     const int (&right_offset)[TS_TILES_R / Right::vector]) {
  Fragment r[TS_TILES_R];
#pragma unroll
  for (int group = 0; group < TS_TILES_R / Right::vector; ++group)
    load<Right>(right + right_offset[group],
                *reinterpret_cast<Fragment(*)[Right::vector]>(r + group * Right::vector));
  constexpr int at_once = Left::vector < 2 ? 2 : Left::vector;  // blocks of 8 columns
#pragma unroll
  for (int block = 0; block < 2 * TS_TILES_L; block += at_once) {
    Fragment l[at_once];
#pragma unroll
    for (int i = 0; i < at_once; i += Left::vector)
      load<Left>(left + left_offset[(block + i) / Left::vector],
                 *reinterpret_cast<Fragment(*)[Left::vector]>(l + i));
#pragma unroll
    for (int i = 0; i < at_once; i += 2) {
      // Within a diagonal tile, blocks wholly below the diagonal are left out.
      const int first = TS_GRAM && TS_WARPS_L == 1 ? (block + i) / Left::vector * Right::vector : 0;
      multiply_add_row(sums.c[(block + i) / 2], l[i], l[i + 1], r, first);
    }
  }
}

extern "C" __global__ void TS_CLUSTER_DIMS __launch_bounds__(threads, TS_RESIDENTS)
    tsmttsm(OperandArgument a_argument, OperandArgument b_argument, int64 rows, int64 a_columns, Result* c,
            int64 c_row_stride, int64 c_column_stride, Result* mirror, Complex<double> alpha,
            Complex<double> beta, int adjoint, int panel_blocks, int group_size, double* partials,
            double* letters, unsigned* tickets, PartsArgument sums_of_parts) {
  extern __shared__ __align__(128) unsigned char shared[];
  uint64* full = reinterpret_cast<uint64*>(shared);
  uint64* empty = full + TS_STAGES;
  unsigned char* ring = shared + ring_offset;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

  if (thread == 0) {
    const int arrivals = OperandA::arrivals(fillers) + (TS_GRAM ? 0 : OperandB::arrivals(fillers));
    for (int s = 0; s < TS_STAGES; ++s) barrier_init(full + s, arrivals), barrier_init(empty + s, consumers);
    barrier_init_fence();
  }
  const Part part =
      part_of(a_argument, b_argument, rows, a_columns, c, c_row_stride, panel_blocks, sums_of_parts);
  // Made when needed: registers are few in between.
  const auto totals = [&] {
    return totals_of<Sum>(part, shared + inbox_offset, partials, letters, tickets, group_size);
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
  Sums sums;
  int left_tile = 0, right_tile = 0;
  if (warp >= consumers) {
    for (int64 chunk = part.block; chunk < chunks; chunk += part.blocks) fill(chunk, thread - 32 * consumers);
  } else {
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
    int left_offset[2 * TS_TILES_L / Left::vector], right_offset[TS_TILES_R / Right::vector];
#pragma unroll
    for (int i = 0; i < 2 * TS_TILES_L / Left::vector; ++i)
      left_offset[i] = left_stage + slice * steps * Left::step_bytes +
                       left.offset(t, vector_column<Left>(left_tile * tile_rows + i * 8 * Left::vector, g));
#pragma unroll
    for (int i = 0; i < TS_TILES_R / Right::vector; ++i)
      right_offset[i] =
          right_stage + slice * steps * Right::step_bytes +
          right.offset(t, vector_column<Right>(right_tile * tile_columns + i * 8 * Right::vector, g));
    int since_flush = 0;
    sums.clear();
    if (flushes)
#pragma unroll 1
      for (int u = 0; u < units; ++u) mine()[32 * u] = Unit{};

    int64 next = part.block;  // to be filled, if this warp fills
    if (TS_PRODUCERS == 0 && warp == 0)
      for (int s = 0; s < TS_STAGES - 1 && next < chunks; ++s, next += part.blocks) fill(next, lane);

    RingPosition<TS_STAGES> at;
    for (int64 chunk = part.block; chunk < chunks; chunk += part.blocks) {
      if (TS_PRODUCERS == 0 && warp == 0 && next < chunks) fill(next, lane), next += part.blocks;
      const unsigned char* stage = ring + at.stage * stage_bytes;
      barrier_wait(full + at.stage, at.parity);
#pragma unroll 2
      for (int s = 0; s < steps; ++s) {
        step(sums, stage + s * Left::step_bytes, stage + s * Right::step_bytes, left_offset, right_offset);
        if (flushes && ++since_flush == TS_FLUSH) sums.flush(mine()), since_flush = 0;
      }
      __syncwarp();
      if (lane == 0) barrier_arrive(empty + at.stage);
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
  for (int u = thread; u < block_units; u += threads) {
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

  const Output out =
      output_of(part, c, c_row_stride, c_column_stride, mirror, alpha, beta, adjoint, sums_of_parts);
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
    finish(sum_of_blocks, out, part, a_argument, b_argument, rows, threads, [&](int l, int r) {
      const int left = l % tile_rows, right = r % tile_columns;
      const int block = block_of<Left::vector>(left), index = index_of<Right::vector>(right);
      const int value =
          (block / 2 * TS_TILES_R + block_of<Right::vector>(right)) * 4 + block % 2 * 2 + index % 2;
      const int u = tile_number(l / tile_rows, r / tile_columns) * units + value / Unit::size;
      return kept[u * 32 + index_of<Left::vector>(left) * 4 + index / 2].x[value % Unit::size];
    });
  }
}
