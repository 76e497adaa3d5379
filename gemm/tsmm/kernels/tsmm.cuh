// Y = alpha X op(S) + beta Y for tall X (n x TS_P) and small S (TS_P x TS_Q); Y may be X itself.
//
// Groups of warps work on their own: each keeps a private ring of slots in flight, takes chunks of TS_ROWS rows,
// and leaves the results in the slot that held the rows, from where they are stored. S lies in shared memory
// for the whole run.
//
// Chunks are given out in the order of memory, to whichever group has a free slot: reads and writes of all
// multiprocessors then stay close together, which memory rewards with 5 % over fixed shares that drift apart.
//
//   TS_TYPE, TS_CORE (0 or 1), TS_NARROW, TS_WARPGROUP: which arithmetic; TS_P, TS_Q
//   TS_MODE_X, TS_PITCH_X, TS_UNIT_X, TS_SHIFT_X, TS_PAD_X: see operand.cuh; TS_VECTOR_X: scalars read at once
//   TS_BULK_Y: Y is contiguous and 16-byte aligned, and whole chunks are stored in bulk
//   TS_COLUMNS_Y: Y lies by columns; TS_UNIT_Y: bytes of Y moved at once, which divide its addresses and lines
//   TS_ACCUMULATE: beta is not 0, and Y is read
//   TS_ROWS (of a chunk), TS_GROUPS, TS_TEAMS, TS_COLUMN_WARPS, TS_TILES (of 16 rows of a team)
//   TS_SLOTS (of all groups); TS_LAG: whether a slot waits for one more chunk before it is filled again, while
//   what it held is being stored
#pragma once

#include "tallskinny/gemm/device/cluster.cuh"

#if TS_NARROW
#include "tallskinny/gemm/tsmm/kernels/tsmm_narrow.cuh"
#elif TS_WARPGROUP
#include "tallskinny/gemm/tsmm/kernels/tsmm_warpgroup.cuh"
#else
#include "tallskinny/gemm/tsmm/kernels/tsmm_tensor.cuh"
#endif

#if __CUDA_ARCH__ >= 900
constexpr bool store_in_bulk = TS_BULK_Y, load_y_in_bulk = TS_ACCUMULATE && TS_BULK_Y;
#else
constexpr bool store_in_bulk = false, load_y_in_bulk = false;
#endif
constexpr int fillers = X::in_bulk ? 32 : 32 * group_warps;  ///< threads of a group that fill its slots
constexpr int fill_arrivals = X::arrivals(fillers);
/// The slots of a group; some groups may have one less.
constexpr int most_stages = (TS_SLOTS + TS_GROUPS - 1) / TS_GROUPS;

/// What a group keeps in shared memory beside its slots.
struct Ring {
  uint64 full[most_stages];       ///< a slot holds its rows
  uint64 empty[most_stages];      ///< all warps have stored what was in a slot
  uint32 number[2][most_stages];  ///< of the chunk in a slot, in even and in odd rounds
};
constexpr int factor_offset = round_up(TS_GROUPS * static_cast<int>(sizeof(Ring)), 128);
constexpr int slots_offset = factor_offset + factor_bytes;

struct ResultArgument {
  Result* data;
  int64 row_stride, column_stride;
};

/// Moves the results of those rows of a team that Y has, from where they are staged or back: one or some
/// neighbours at once, neighbours in memory by neighbouring lanes.
template <bool Back>
__device__ __forceinline__ void move_results(Result* staged, const ResultArgument& y, int64 first, int rows,
                                             int thread) {
  constexpr int v = TS_UNIT_Y > sizeof(Result) ? TS_UNIT_Y / sizeof(Result) : 1;
  using Piece = Vector<Result, v, TS_UNIT_Y>;
  Result* const start = y.data + first * y.row_stride;
  constexpr int line = (TS_COLUMNS_Y ? team_rows : TS_Q) / v;
#pragma unroll 8
  for (int e = thread; e < (TS_COLUMNS_Y ? TS_Q : rows) * line; e += team_threads) {
    const int at = e % line * v, row = TS_COLUMNS_Y ? at : e / line, column = TS_COLUMNS_Y ? e / line : at;
    Result* const here = staged + row * y_row_pitch + column * y_column_pitch;
    Result* const there = start + row * y.row_stride + (TS_COLUMNS_Y ? column * y.column_stride : column);
    Result* const to = Back ? here : there;
    const Result* const from = Back ? there : here;
    if (!TS_COLUMNS_Y || row + v <= rows)
      *reinterpret_cast<Piece*>(to) = *reinterpret_cast<const Piece*>(from);
    else
      for (int i = 0; i < rows - row; ++i) to[i] = from[i];
  }
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    tsmm(OperandArgument x_argument, Factor s, ResultArgument y, int64 rows, Complex<double> wide_alpha,
         Complex<double> wide_beta, uint32* tickets) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const Place place{warp / group_warps, warp % group_warps / TS_COLUMN_WARPS, warp % TS_COLUMN_WARPS,
                    thread % 32};
  const int thread_of_group = place.thread_of_group();
  const bool leads = thread_of_group == 0, fills = thread_of_group < fillers;
  Ring& ring = reinterpret_cast<Ring*>(shared)[place.group];
  unsigned char* const factor = shared + factor_offset;
  constexpr int more = TS_SLOTS % TS_GROUPS;  // groups that have a slot more than the others
  const int stages = TS_SLOTS / TS_GROUPS + (place.group < more);
  unsigned char* const slots =
      shared + slots_offset +
      (place.group * (TS_SLOTS / TS_GROUPS) + (place.group < more ? place.group : more)) * slot_bytes;
  const Scalars scalars{{static_cast<Sum>(wide_alpha.re), static_cast<Sum>(wide_alpha.im)},
                        {static_cast<Sum>(wide_beta.re), static_cast<Sum>(wide_beta.im)}};
  const X x(x_argument, rows);
  const int64 chunks = (rows + TS_ROWS - 1) / TS_ROWS;

  // Every group begins with chunks of its own, then draws tickets; one ticket is always at hand. (32 bits
  // number more chunks than memory holds.) A group draws one at first and one with each chunk, so that the
  // last draw of the grid is known, and puts the tickets back.
  const int loaded = stages - TS_LAG;  // slots that are filled before the first is used
  const auto own = [&](int i) { return (i * TS_GROUPS + place.group) * gridDim.x + blockIdx.x; };
  uint32 next = 0;
  const uint32 last_draw = static_cast<uint32>(chunks) + gridDim.x * TS_GROUPS - 1;
  const auto draw = [&] {
    next = (TS_SLOTS - TS_LAG * TS_GROUPS) * gridDim.x + atomicInc(tickets, last_draw);
  };
  if (leads) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(ring.full + i, fill_arrivals + load_y_in_bulk);
      barrier_init(ring.empty + i, group_warps * warp_arrivals);
      ring.number[0][i] = own(i);
    }
    barrier_init_fence();
  }
  __syncthreads();
  let_next_kernel_start();
  wait_for_earlier_kernels();
  if (leads) draw();

  // By the threads that fill; a number beyond the last chunk says that there are no more.
  const auto load = [&](int stage, uint32 number) {
    uint64* const full = ring.full + stage;
    if (number >= chunks) {
      if (thread_of_group < fill_arrivals) barrier_arrive(full);
      if (load_y_in_bulk && leads) barrier_arrive(full);
      return;
    }
    unsigned char* const slot = slots + stage * slot_bytes;
    x.fill(number, slot, full, thread_of_group, fillers);
#if __CUDA_ARCH__ >= 900
    if (load_y_in_bulk && leads) {
      constexpr int bytes = TS_TEAMS * y_team_bytes;
      const bool whole = (number + int64{1}) * TS_ROWS <= rows;
      barrier_arrive_expecting(full, whole ? bytes : 0);
      if (whole)
        bulk_load(slot + y_offset, y.data + static_cast<int64>(number) * (TS_ROWS * TS_Q), bytes, full);
    }
#endif
  };
  if (fills)
    for (int i = 0; i < loaded; ++i) load(i, own(i));
  prepare_factor(factor, s, thread);
  __syncthreads();

  for (int stage = 0, parity = 0;;) {
    barrier_wait(ring.full + stage, parity);
    const uint32 number = ring.number[parity][stage];
    if (number >= chunks) break;
    unsigned char* const slot = slots + stage * slot_bytes;
    Result* const staged = reinterpret_cast<Result*>(slot + y_offset + place.team * y_pitch);
    const int64 first = static_cast<int64>(number) * TS_ROWS + place.team * team_rows;
    const int valid = rows - first < team_rows ? max(0, static_cast<int>(rows - first)) : team_rows;
    if (TS_ACCUMULATE && !(load_y_in_bulk && (number + int64{1}) * TS_ROWS <= rows))
      move_results<true>(staged, y, first, valid, place.thread_of_team());
    compute(x, slot, factor, s, place, scalars);

    const bool in_bulk = store_in_bulk && valid == team_rows;
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    place.sync_team();
    if (!in_bulk) move_results<false>(staged, y, first, valid, place.thread_of_team());
#if __CUDA_ARCH__ >= 900
    if (store_in_bulk && place.thread_of_team() == 0) {
      if (in_bulk)
        asm volatile(
            "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y.data + first * TS_Q),
            "r"(shared_address(staged)), "n"(y_team_bytes)
            : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(TS_LAG) : "memory");
    }
#endif
    // This slot, or the one before it, takes the next chunk as soon as every warp is done with it.
    const bool same_round = TS_LAG == 1 && stage == 0;
    const int before = TS_LAG == 0 ? stage : stage == 0 ? stages - 1 : stage - 1;
    uint32& after = ring.number[same_round ? parity : parity ^ 1][before];
    if (leads) after = next;
    __syncwarp();
    if (arrives_for_warp(place.lane)) barrier_arrive(ring.empty + before);
    if (fills) {
      barrier_wait(ring.empty + before, parity);
      load(before, after);
      if (leads) draw();
    }
    if (++stage == stages) stage = 0, parity ^= 1;
  }
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}
