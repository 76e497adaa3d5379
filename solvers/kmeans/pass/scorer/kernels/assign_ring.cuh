// Shared memory of the blocks of assign_groups, and the ring of centroids in it. Include after the shapes of
// assign_groups.cuh.
#pragma once
#include "tallskinny/gemm/device/pipeline.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_load.cuh"

/// Facts of a row that producer warps hand to those that score it: squared norms of the row and of what its float16
/// numbers leave, and its label so far.
struct Known {
  float squared, rest;
  int label, unused;
};
static_assert(sizeof(Known) == policy.known_bytes);
constexpr int origins_here = policy.near_origins();

/// Positions of rows, a tile of which a block takes at a time.
struct RowTiles {
  int64 count, begin = static_cast<int64>(blockIdx.x) * block_rows, stride = static_cast<int64>(gridDim.x) * block_rows;
  const int* schedule = nullptr;  // of tiles

  /// First row of the tile that a block takes in its turn.
  __device__ __forceinline__ int64 first(int64 turn) const {
    if (!policy.bounded || schedule == nullptr || turn >= count) return turn;
    return static_cast<int64>(schedule[turn / block_rows]) * block_rows;
  }
};

/// Shared memory: stages of centroids; for each group its rows, with producer warps twice; facts of these rows, and
/// origins, unless labels are confirmed; shifts of columns; barriers.
struct Shared {
  unsigned char* memory;
  __device__ __forceinline__ uint64* stage_full(int stage) const { return barrier(stage); }
  __device__ __forceinline__ uint64* stage_empty(int stage) const { return barrier(policy.stages + stage); }
  /// Barrier of a group's rows, for even and odd tiles.
  __device__ __forceinline__ uint64* rows_full(int group, int turn) const {
    return barrier(2 * policy.stages + 2 * group + turn);
  }
  __device__ __forceinline__ uint64* rows_empty(int group, int turn) const {
    return barrier(2 * policy.stages + 2 * groups + 2 * group + turn);
  }
  __device__ __forceinline__ unsigned char* left(int group, int turn) const {
    return memory + policy.left_at() + (policy.row_stages() * group + turn) * policy.left_bytes();
  }
  __device__ __forceinline__ Known* known(int group, int turn) const {
    return reinterpret_cast<Known*>(memory + policy.known_at()) + (2 * group + turn) * group_rows;
  }
  __device__ __forceinline__ float* origins() const { return reinterpret_cast<float*>(memory + policy.origins_at()); }
  /// Origins of the centroids of a chunk that are listed.
  __device__ __forceinline__ float* slot(int number) const {
    return reinterpret_cast<float*>(memory + policy.slots_at()) + number * policy.chunk;
  }
  __device__ __forceinline__ Shift* shifts() const { return reinterpret_cast<Shift*>(memory + policy.shifts_at()); }

  /// Initialises the memory by all threads, before the first of them uses any of it.
  __device__ __forceinline__ void begin(const Arguments& a) const {
    for (int j = threadIdx.x; j < 16 * steps; j += policy.threads())
      shifts()[j] = shift_of(j < policy.d ? a.shift[j] : 0, a.scale);
    if constexpr (origins_here > 0)
      for (int m = threadIdx.x; m < origins_here; m += policy.threads()) origins()[m] = a.origins[m];
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < policy.stages; ++stage)
        barrier_init(stage_full(stage), policy.listed ? 32 * policy.fillers() : 1),
            barrier_init(stage_empty(stage), consumers * warp_arrivals);
      if constexpr (produced)
        for (int number = 0; number < 4 * groups; ++number)
          barrier_init(barrier(2 * policy.stages + number), 4 * warp_arrivals);
      barrier_init_fence();
    }
    __syncthreads();
  }

 private:
  __device__ __forceinline__ uint64* barrier(int number) const {
    return reinterpret_cast<uint64*>(memory + policy.barriers_at()) + number;
  }
};

/// One thread brings all chunks for each tile of rows.
__device__ __forceinline__ void fill_ring(const Shared& shared, const void* fragments, const RowTiles& tiles) {
  RingPosition<policy.stages> at;
  uint32 filled = 0;
  for (int64 block = tiles.begin; block < tiles.count; block += tiles.stride)
    for (int c = 0; c < chunks; ++c)
      for (int stage = 0; stage < stages_of_chunk; ++stage, at.advance()) {
        if (filled == policy.stages)
          barrier_wait(shared.stage_empty(at.stage), at.parity ^ 1);
        else
          ++filled;
        barrier_arrive_expecting(shared.stage_full(at.stage), stage_bytes);
        const unsigned char* const from =
            static_cast<const unsigned char*>(fragments) + static_cast<int64>(c) * chunk_bytes + stage * right_part;
#pragma unroll
        for (int part = 0; part < policy.parts; ++part)
          bulk_load(shared.memory + at.stage * stage_bytes + part * right_part, from + part * steps * right_step,
                    right_part, shared.stage_full(at.stage));
      }
}

/// The next of the slots.
__device__ __forceinline__ int slot_after(int slot) { return slot + 1 < policy.slots() ? slot + 1 : 0; }

/// Waits until at most Stages that were committed are under way.
template <int Stages>
__device__ __forceinline__ void copies_wait_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Stages) : "memory");
}

/// Layout of listed centroids in a stage: 32 bytes of a line for each step, line by line; the sixteens of eight lines
/// are swapped as the instructions need it (wgmma_descriptor_of_lines).
constexpr int line_bytes = ts::cuda::step_bytes * stage_steps, right_line = policy.listed ? line_bytes : 128;

/// Brings the chunks of centroids that are listed for each tile of rows, by so many warps, each of them the same lines
/// of all chunks, whole lines at a time. A warp waits for its copies itself, a few stages later. A slot of origins is
/// free: there are more slots than stages, and the stages of the chunk after its last one were given back. Places
/// without a centroid are filled with zeros: if all blocks read one row for them, the cache would answer them one after
/// the other. The numbers of the next chunk come while this one does; every tile has one.
template <int Warps>
__device__ __forceinline__ void fill_listed(const Shared& shared, const Arguments& a, const RowTiles& tiles, int warp) {
  constexpr int line_pieces = line_bytes / 16, at_once = 32 / line_pieces, lines = policy.chunk / Warps,
                copies = lines / at_once, row_pieces = 2 * steps, behind = policy.stages / 2;
  static_assert(policy.listed && (line_bytes == 128 || line_bytes == 64) && lines % at_once == 0 && copies <= 32);
  const int lane = threadIdx.x % 32, piece = lane % line_pieces, line = warp * lines + lane / line_pieces;
  // Two lines of 64 bytes have the same place in 128.
  const int swap = line_bytes == 128 ? line % 8 : line / 2 % 4;
  const auto* const sixteens = static_cast<const uint4*>(a.centroids);
  RingPosition<policy.stages> at, next;  // next: to be published
  uint32 filled = 0;
  int slot = 0, under_way = 0, number[copies];
  const auto publish = [&] {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    barrier_arrive(shared.stage_full(next.stage));
    next.advance(), --under_way;
  };
  const auto look_up = [&](int64 tile, int chunk) {
    const int* const from = a.lists.numbers + tile * a.lists.stride + chunk * policy.chunk + line;
#pragma unroll
    for (int i = 0; i < copies; ++i) number[i] = from[i * at_once];
  };
  if (tiles.begin < tiles.count) look_up(tiles.first(tiles.begin) / block_rows, 0);
  for (int64 turn = tiles.begin; turn < tiles.count; turn += tiles.stride) {
    const int64 tile = tiles.first(turn) / block_rows;
    const int count = a.lists.counts[tile];
    for (int c = 0; c < count; ++c, slot = slot_after(slot)) {
      uint32 from[copies], real = 0;
#pragma unroll
      for (int i = 0; i < copies; ++i) {
        from[i] = static_cast<uint32>(number[i]) * row_pieces + piece;
        if (number[i] != a.lists.none) real |= 1u << i;
      }
#pragma unroll 1
      for (int stage = 0; stage < stages_of_chunk; ++stage, at.advance()) {
        if (filled == policy.stages)
          barrier_wait(shared.stage_empty(at.stage), at.parity ^ 1);
        else
          ++filled;
        if (stage == 0) {
#pragma unroll
          for (int i = 0; i < copies; ++i)
            if (piece == 0) copy_async<4>(shared.slot(slot) + line + i * at_once, a.origins + number[i], 4);
          if (c + 1 < count)
            look_up(tile, c + 1);
          else if (turn + tiles.stride < tiles.count)
            look_up(tiles.first(turn + tiles.stride) / block_rows, 0);
        }
        unsigned char* const to = shared.memory + at.stage * stage_bytes + line * line_bytes;
#pragma unroll
        for (int i = 0; i < copies; ++i) {
          const int swapped = line_bytes == 128 && at_once * i % 8 != 0 ? swap ^ 4 : swap;
          copy_async<16>(to + i * (at_once * line_bytes) + (piece ^ swapped) * 16,
                         sixteens + (from[i] + stage * line_pieces), real >> i & 1 ? 16 : 0);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (++under_way > behind) {
          copies_wait_but<behind>();
          publish();
        }
      }
    }
  }
  wait_for_copies();
  while (under_way > 0) publish();
}
