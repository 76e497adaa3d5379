// Y = alpha X op(S) + beta Y for tall X (n x TS_P) and small S (TS_P x TS_Q); Y may be X itself.
//
// Groups of warps work on their own: each keeps a private ring of TS_STAGES slots in flight, takes chunks of
// TS_ROWS rows, and leaves the results in the slot that held the rows, from where they are stored. S lies in
// shared memory for the whole run.
//
// Chunks are given out in the order of memory, to whichever group has a free slot: reads and writes of all
// multiprocessors then stay close together, which memory rewards with 5 % over fixed shares that drift apart.
//
//   TS_TYPE, TS_CORE (0 or 1), TS_NARROW; TS_P, TS_Q
//   TS_MODE_X, TS_PITCH_X, TS_UNIT_X, TS_SHIFT_X, TS_PAD_X   see operand.cuh; TS_VECTOR_X: scalars read at
//   once TS_BULK_Y     Y is contiguous and 16-byte aligned: whole chunks are stored in bulk TS_COLUMNS_Y  Y
//   lies by columns TS_ACCUMULATE beta is not 0: Y is read TS_ROWS (of a chunk), TS_STAGES, TS_GROUPS,
//   TS_TEAMS, TS_COLUMN_WARPS, TS_TILES (of 16 rows of a team)
#pragma once

#if TS_NARROW
#include "tsmm_narrow.cuh"
#else
#include "tsmm_tensor.cuh"
#endif

#if __CUDA_ARCH__ >= 900
constexpr bool store_in_bulk = TS_BULK_Y, load_y_in_bulk = TS_ACCUMULATE && TS_BULK_Y;
#else
constexpr bool store_in_bulk = false, load_y_in_bulk = false;
#endif
constexpr int fillers = X::in_bulk ? 32 : 32 * group_warps;  ///< threads of a group that fill its slots
constexpr int fill_arrivals = X::arrivals(fillers);
/// Whether a slot waits for one more chunk before it is filled again, while what it held is being stored; two
/// slots cannot afford that.
constexpr int lag = TS_STAGES > 2;
constexpr int loaded = TS_STAGES - lag;  ///< slots that are filled before the first is used

/// What a group keeps in shared memory beside its slots.
struct Ring {
  uint64 full[TS_STAGES];       ///< a slot holds its rows
  uint64 empty[TS_STAGES];      ///< all warps have stored what was in a slot
  uint32 number[2][TS_STAGES];  ///< of the chunk in a slot, in even and in odd rounds
};
constexpr int factor_offset = round_up(TS_GROUPS * static_cast<int>(sizeof(Ring)), 128);
constexpr int slots_offset = factor_offset + factor_bytes;

struct ResultArgument {
  Result* data;
  int64 row_stride, column_stride;
};

/// f(place in the staged results, place in Y) for the rows of a team that Y has, neighbours in memory by
/// neighbouring lanes.
template <class F>
__device__ __forceinline__ void for_each_result(const ResultArgument& y, int64 first, int rows, int thread,
                                                F f) {
  Result* const start = y.data + first * y.row_stride;
  constexpr int lines = TS_COLUMNS_Y ? team_rows : TS_Q;
#pragma unroll 8
  for (int e = thread; e < (TS_COLUMNS_Y ? team_rows : rows) * TS_Q; e += team_threads) {
    const int row = TS_COLUMNS_Y ? e % lines : e / lines, column = TS_COLUMNS_Y ? e / lines : e % lines;
    if (!TS_COLUMNS_Y || row < rows)
      f(row * y_row_pitch + column * y_column_pitch,
        start + row * y.row_stride + (TS_COLUMNS_Y ? column * y.column_stride : column));
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
  unsigned char* const slots = shared + slots_offset + place.group * TS_STAGES * slot_bytes;
  const Scalars scalars{{static_cast<Sum>(wide_alpha.re), static_cast<Sum>(wide_alpha.im)},
                        {static_cast<Sum>(wide_beta.re), static_cast<Sum>(wide_beta.im)}};
  const X x(x_argument, rows);
  const int64 chunks = (rows + TS_ROWS - 1) / TS_ROWS;

  // Every group begins with chunks of its own, then draws tickets; one ticket is always at hand. (32 bits
  // number more chunks than memory holds.)
  const uint32 groups = gridDim.x * TS_GROUPS, own = place.group * gridDim.x + blockIdx.x;
  uint32 next = 0;
  const auto draw = [&] { next = loaded * groups + atomicAdd(tickets, 1u); };
  if (leads) {
    for (int i = 0; i < TS_STAGES; ++i) {
      barrier_init(ring.full + i, fill_arrivals + load_y_in_bulk);
      barrier_init(ring.empty + i, group_warps);
      ring.number[0][i] = own + i * groups;
    }
    barrier_init_fence();
    draw();
  }
  __syncthreads();

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
    for (int i = 0; i < loaded; ++i) load(i, own + i * groups);
  prepare_factor(factor, s, thread);
  __syncthreads();

  for (RingPosition<TS_STAGES> at;; at.advance()) {
    barrier_wait(ring.full + at.stage, at.parity);
    const uint32 number = ring.number[at.parity][at.stage];
    if (number >= chunks) break;
    unsigned char* const slot = slots + at.stage * slot_bytes;
    Result* const staged = reinterpret_cast<Result*>(slot + y_offset + place.team * y_pitch);
    const int64 first = static_cast<int64>(number) * TS_ROWS + place.team * team_rows;
    const int valid = rows - first < team_rows ? max(0, static_cast<int>(rows - first)) : team_rows;
    if (TS_ACCUMULATE && !(load_y_in_bulk && (number + int64{1}) * TS_ROWS <= rows))
      for_each_result(y, first, valid, place.thread_of_team(),
                      [&](int i, const Result* from) { staged[i] = *from; });
    compute(x, slot, factor, s, place, scalars);

    const bool in_bulk = store_in_bulk && valid == team_rows;
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    place.sync_team();
    if (!in_bulk)
      for_each_result(y, first, valid, place.thread_of_team(), [&](int i, Result* to) { *to = staged[i]; });
#if __CUDA_ARCH__ >= 900
    if (store_in_bulk && place.thread_of_team() == 0) {
      if (in_bulk)
        asm volatile(
            "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y.data + first * TS_Q),
            "r"(shared_address(staged)), "n"(y_team_bytes)
            : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(lag) : "memory");
    }
#endif
    // This slot, or the one before it, takes the next chunk as soon as every warp is done with it.
    const bool same_round = lag == 1 && at.stage == 0;
    const int before = lag == 0 ? at.stage : at.stage == 0 ? TS_STAGES - 1 : at.stage - 1;
    uint32& after = ring.number[same_round ? at.parity : at.parity ^ 1][before];
    if (leads) after = next;
    __syncwarp();
    if (place.lane == 0) barrier_arrive(ring.empty + before);
    if (fills) {
      barrier_wait(ring.empty + before, at.parity);
      load(before, after);
      if (leads) draw();
    }
  }
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
  if (leads) {  // the last group puts the tickets back
    __threadfence();
    if (atomicAdd(tickets + 1, 1u) == groups - 1) tickets[0] = tickets[1] = 0;
  }
}
