// Y = alpha X op(S) + beta Y for tall X (rows x p) and small S (p x q); Y may be X itself.
//
// Groups of warps work on their own: each keeps a private ring of slots in flight, takes chunks of rows, and leaves the
// results in the slot that held the rows, from where they are stored. S lies in shared memory for the whole run.
//
// Chunks are given out in the order of memory, to whichever group has a free slot: reads and writes of all
// multiprocessors then stay close together, which memory rewards with 5 % over fixed shares that drift apart.
#pragma once

#include "tallskinny/gemm/device/cluster.cuh"
#include "tallskinny/gemm/tsmm/kernels/tsmm_narrow.cuh"
#include "tallskinny/gemm/tsmm/kernels/tsmm_tensor.cuh"
#include "tallskinny/gemm/tsmm/kernels/tsmm_warpgroup.cuh"

using Worker = Choose<policy.worker == TsmmWorker::lane, ByLanes<policy>,
                      Choose<policy.worker == TsmmWorker::warp, ByWarps<policy>, ByWarpgroups<policy>>::type>::type;

#if __CUDA_ARCH__ >= 900
constexpr bool store_in_bulk = policy.bulk_y, load_y_in_bulk = policy.accumulate && policy.bulk_y;
#else
constexpr bool store_in_bulk = false, load_y_in_bulk = false;
#endif
constexpr int fillers = X::in_bulk ? 32 : 32 * policy.group_warps();  ///< threads of a group that fill its slots
constexpr int fill_arrivals = X::arrivals(fillers);

/// What a group keeps in shared memory beside its slots.
struct Ring {
  uint64 full[policy.most_stages()];       ///< a slot holds its rows
  uint64 empty[policy.most_stages()];      ///< all warps have stored what was in a slot
  uint32 number[2][policy.most_stages()];  ///< of the chunk in a slot, in even and in odd rounds
};
static_assert(policy.groups * sizeof(Ring) <= policy.factor_offset());

struct ResultRows {
  Result* data;
  int64 row_stride, column_stride;
};

/// Moves the results of those rows of a team that Y has, from where they are staged or back: one or some
/// neighbours at once, neighbours in memory by neighbouring lanes.
template <bool Back>
__device__ __forceinline__ void move_results(Result* staged, const ResultRows& y, int64 first, int rows, int thread) {
  constexpr int v = policy.unit_y > sizeof(Result) ? policy.unit_y / sizeof(Result) : 1;
  using Piece = Vector<Result, v, policy.unit_y>;
  Result* const start = y.data + first * y.row_stride;
  constexpr int line = (policy.columns_y ? policy.team_rows() : policy.q) / v;
#pragma unroll 8
  for (int e = thread; e < (policy.columns_y ? policy.q : rows) * line; e += policy.team_threads()) {
    const int at = e % line * v, row = policy.columns_y ? at : e / line, column = policy.columns_y ? e / line : at;
    Result* const here = staged + row * policy.y_row_pitch() + column * policy.y_column_pitch();
    Result* const there = start + row * y.row_stride + (policy.columns_y ? column * y.column_stride : column);
    Result* const to = Back ? here : there;
    const Result* const from = Back ? there : here;
    if (!policy.columns_y || row + v <= rows)
      *reinterpret_cast<Piece*>(to) = *reinterpret_cast<const Piece*>(from);
    else
      for (int i = 0; i < rows - row; ++i) to[i] = from[i];
  }
}

/// The rows of X and Y in chunks, which are numbered in the order of memory.
struct Chunks {
  X x;
  ResultRows y;
  int64 rows, count;

  __device__ __forceinline__ explicit Chunks(const ts::cuda::TsmmArguments& a)
      : x(a.x, a.rows),
        y{static_cast<Result*>(a.y.data), a.y.row_stride, a.y.column_stride},
        rows(a.rows),
        count((a.rows + policy.rows() - 1) / policy.rows()) {}

  __device__ __forceinline__ bool whole(uint32 number) const { return (number + int64{1}) * policy.rows() <= rows; }
  /// By the threads of a group that fill; a number beyond the last chunk says that there are no more.
  __device__ __forceinline__ void load(uint32 number, unsigned char* slot, uint64* full, int thread) const {
    if (number >= count) {
      if (thread < fill_arrivals) barrier_arrive(full);
      if (load_y_in_bulk && thread == 0) barrier_arrive(full);
      return;
    }
    x.fill(number, slot, full, thread, fillers);
#if __CUDA_ARCH__ >= 900
    if (load_y_in_bulk && thread == 0) {
      constexpr int bytes = policy.teams * policy.y_team_bytes();
      const bool all = whole(number);
      barrier_arrive_expecting(full, all ? bytes : 0);
      if (all)
        bulk_load(slot + policy.y_offset(), y.data + static_cast<int64>(number) * (policy.rows() * policy.q), bytes,
                  full);
    }
#endif
  }
  /// By a team: what it has computed of the rows from `first` on, `valid` of which there are.
  __device__ __forceinline__ void store(Result* staged, int64 first, int valid, const Place& place) const {
    const bool in_bulk = store_in_bulk && valid == policy.team_rows();
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    place.sync_team();
    if (!in_bulk) move_results<false>(staged, y, first, valid, place.thread_of_team());
#if __CUDA_ARCH__ >= 900
    if (store_in_bulk && place.thread_of_team() == 0) {
      if (in_bulk)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(y.data + first * policy.q),
                     "r"(shared_address(staged)), "n"(policy.y_team_bytes())
                     : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(policy.lag) : "memory");
    }
#endif
  }
};

/// The slots of a group, and the chunks that come into them. Every group begins with chunks of its own, then draws
/// tickets; one ticket is always at hand. (32 bits number more chunks than memory holds.) A group draws one at first
/// and one with each chunk, so that the last draw of the grid is known, and puts the tickets back.
struct Slots {
  Ring& ring;
  unsigned char* first;
  int group, stages;
  unsigned* tickets;
  uint32 last_draw, next = 0;  ///< the ticket at hand

  __device__ __forceinline__ Slots(unsigned char* shared, int of_group, unsigned* all_tickets, int64 chunks)
      : ring(reinterpret_cast<Ring*>(shared)[of_group]),
        group(of_group),
        tickets(all_tickets),
        last_draw(static_cast<uint32>(chunks) + gridDim.x * policy.groups - 1) {
    constexpr int each = policy.slots / policy.groups, more = policy.slots % policy.groups;  // groups that have another
    stages = each + (group < more);
    first = shared + policy.slots_offset() + (group * each + (group < more ? group : more)) * policy.slot_bytes();
  }
  __device__ __forceinline__ unsigned char* at(int stage) const { return first + stage * policy.slot_bytes(); }
  __device__ __forceinline__ uint32 own(int i) const { return (i * policy.groups + group) * gridDim.x + blockIdx.x; }
  /// By the thread of a group that leads.
  __device__ __forceinline__ void prepare() const {
    for (int i = 0; i < stages; ++i) {
      barrier_init(ring.full + i, fill_arrivals + load_y_in_bulk);
      barrier_init(ring.empty + i, policy.group_warps() * warp_arrivals);
      ring.number[0][i] = own(i);
    }
    barrier_init_fence();
  }
  __device__ __forceinline__ void draw() {
    next = (policy.slots - policy.lag * policy.groups) * gridDim.x + atomicInc(tickets, last_draw);
  }
};

/// Arguments are read when the kernel starts: those of a __grid_constant__ would be read where they are used, which
/// makes kernels of many registers spill.
extern "C" __global__ void __launch_bounds__(policy.threads(), 1) tsmm(const ts::cuda::TsmmArguments a) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const Place place{warp / policy.group_warps(), warp % policy.group_warps() / policy.column_warps,
                    warp % policy.column_warps, thread % 32};
  const int thread_of_group = place.thread_of_group();
  const bool leads = thread_of_group == 0, fills = thread_of_group < fillers;
  unsigned char* const factor = shared + policy.factor_offset();
  const Factor s(a.s);
  const Scalars scalars(a.alpha, a.beta);
  const Chunks chunks(a);
  Slots slots(shared, place.group, a.tickets, chunks.count);

  const int loaded = slots.stages - policy.lag;  // slots that are filled before the first is used
  if (leads) slots.prepare();
  __syncthreads();
  let_next_kernel_start();
  wait_for_earlier_kernels();
  if (leads) slots.draw();
  const auto load = [&](int stage, uint32 number) {
    chunks.load(number, slots.at(stage), slots.ring.full + stage, thread_of_group);
  };
  if (fills)
    for (int i = 0; i < loaded; ++i) load(i, slots.own(i));
  Worker::prepare_factor(factor, s, thread);
  __syncthreads();

  for (int stage = 0, parity = 0;;) {
    barrier_wait(slots.ring.full + stage, parity);
    const uint32 number = slots.ring.number[parity][stage];
    if (number >= chunks.count) break;
    unsigned char* const slot = slots.at(stage);
    Result* const staged = place.results(slot);
    const int64 first = static_cast<int64>(number) * policy.rows() + place.first_row(), left = chunks.rows - first;
    const int valid = left < policy.team_rows() ? max(0, static_cast<int>(left)) : policy.team_rows();
    if (policy.accumulate && !(load_y_in_bulk && chunks.whole(number)))
      move_results<true>(staged, chunks.y, first, valid, place.thread_of_team());
    Worker::compute(chunks.x, slot, factor, s, place, scalars);
    chunks.store(staged, first, valid, place);
    // This slot, or the one before it, takes the next chunk as soon as every warp is done with it.
    const bool same_round = policy.lag == 1 && stage == 0;
    const int before = policy.lag == 0 ? stage : stage == 0 ? slots.stages - 1 : stage - 1;
    uint32& after = slots.ring.number[same_round ? parity : parity ^ 1][before];
    if (leads) after = slots.next;
    __syncwarp();
    if (arrives_for_warp(place.lane)) barrier_arrive(slots.ring.empty + before);
    if (fills) {
      barrier_wait(slots.ring.empty + before, parity);
      load(before, after);
      if (leads) slots.draw();
    }
    if (++stage == slots.stages) stage = 0, parity ^= 1;
  }
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}
