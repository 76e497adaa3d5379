// Marks the centroids that may be nearest for some of 16 rows, or for each row, by products of projections. Tensor
// instructions of warpgroups (sm_90a) compute them; their last step adds and subtracts the columns of
// projection_limits.cuh and projection_centroids.cuh (or seed_limits.cuh and seed_candidates.cuh), so that signs
// decide. Projections are float16, or integers of 8 bits, whose sums are exact; they become float32 before the last
// step, which is float16. A group has 64 rows, which it copies, and takes chunks of 128 centroids from a ring that one
// more warp fills. Operands lie as wgmma.cuh says. A lane has rows g and g + 8 of its warp's 16, and columns 2t, 2t + 1
// of each eight: bit 2b + e of word t is that of column 8b + 2t + e of the chunk.
#include "tallskinny/gemm/device/wgmma.cuh"

constexpr unsigned everyone = 0xffffffffu;
constexpr int chunk = ts::cuda::projection_chunk, blocks_of_8 = chunk / 8, stage_steps = policy.stage_steps;
constexpr int stages_of_chunk = policy.steps / stage_steps, groups = policy.groups, group_rows = policy.group_rows;
constexpr int left_step = policy.step_bytes * group_rows, right_step = policy.step_bytes * chunk;
constexpr int projection_bytes = policy.step_bytes * (policy.steps - 1);
constexpr bool int8 = policy.numbers == ts::ProjectionNumbers::int8;
static_assert(policy.steps % stage_steps == 0);
static_assert(!int8 || projection_bytes * 127 * 127 < 1 << 24, "sums are exact in float32");

struct Shared {
  unsigned char* memory;
  __device__ __forceinline__ uint64* full(int stage) const {
    return reinterpret_cast<uint64*>(memory + policy.barriers_at()) + stage;
  }
  __device__ __forceinline__ uint64* empty(int stage) const { return full(policy.most_stages + stage); }
};

/// One thread brings all chunks for each tile of rows.
__device__ __forceinline__ void fill_ring(const ts::cuda::ProjectionTilesArguments& a, const Shared& shared) {
  RingPosition<policy.stages> at;
  uint32 filled = 0;
  for (int64 block = blockIdx.x; block * (groups * group_rows) < a.count; block += gridDim.x)
    for (int part = 0; part < a.chunk_count * stages_of_chunk; ++part, at.advance()) {
      if (filled == policy.stages)
        barrier_wait(shared.empty(at.stage), at.parity ^ 1);
      else
        ++filled;
      barrier_arrive_expecting(shared.full(at.stage), policy.stage_bytes());
      bulk_load(shared.memory + at.stage * policy.stage_bytes(),
                static_cast<const unsigned char*>(a.chunks) + static_cast<int64>(part) * policy.stage_bytes(),
                policy.stage_bytes(), shared.full(at.stage));
    }
}

/// A warp's 16 rows from position `first` on, four eights of eight rows at a time; zeros behind the last.
__device__ __forceinline__ void load_rows(const ts::cuda::ProjectionTilesArguments& a, unsigned char* left,
                                          int64 first) {
  constexpr int projection_pieces = projection_bytes / 16, limit_bytes = 2 * ts::cuda::limit_columns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64 position = first + 8 * half + lane / 4;
    const int valid = position < a.count ? 16 : 0;
    const int64 real = position < a.count ? position : 0;
    const auto* const projection = static_cast<const unsigned char*>(a.projections) +
                                   (a.order == nullptr ? real : static_cast<int64>(a.order[real])) * projection_bytes;
    const auto* const limit = static_cast<const unsigned char*>(a.limits) + real * limit_bytes;
    unsigned char* const to = left + (16 * warp + 8 * half + lane / 4) * 16;
#pragma unroll 8
    for (int begin = 0; begin < 2 * policy.steps; begin += 4) {
      const int piece = begin + lane % 4;
      if (piece >= 2 * policy.steps) continue;
      copy_async<16>(to + piece * (16 * group_rows),
                     piece < projection_pieces ? projection + 16 * piece : limit + 16 * (piece - projection_pieces),
                     valid);
    }
  }
}

__device__ __forceinline__ void multiply_step(float (&sum)[4 * blocks_of_8], uint64 left, uint64 right, int add) {
  Wgmma<blocks_of_8>::template multiply_f16<0>(sum, left, right, add);
}
__device__ __forceinline__ void multiply_step(int (&sum)[4 * blocks_of_8], uint64 left, uint64 right, int add) {
  Wgmma<blocks_of_8>::multiply_s8(sum, left, right, add);
}
/// Keeps the compiler from reading accumulators before the instructions that write them were waited for.
__device__ __forceinline__ void pin(float& x) { asm volatile("" : "+f"(x)::"memory"); }
__device__ __forceinline__ void pin(int& x) { asm volatile("" : "+r"(x)::"memory"); }

/// product = the group's rows times the next chunk in the ring, of integers without the last step: its stage stays
/// full, and its position is returned.
template <class T>
__device__ __forceinline__ int multiply_chunk(T (&product)[4 * blocks_of_8], uint64 lefts, const Shared& shared,
                                              RingPosition<policy.stages>& at) {
  const int lane = threadIdx.x % 32;
  const uint64 rights = wgmma_descriptor(shared.memory, chunk);  // bytes add to it in sixteens
  int previous = 0;
#pragma unroll(int8 ? stages_of_chunk : 1)
  for (int stage = 0; stage < stages_of_chunk; ++stage, at.advance()) {
    barrier_wait(shared.full(at.stage), at.parity);
    const uint64 right = rights + at.stage * (policy.stage_bytes() / 16);
    const uint64 left = lefts + stage * (stage_steps * left_step / 16);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < stage_steps; ++step)
      if (!int8 || stage * stage_steps + step + 1 < policy.steps)
        multiply_step(product, left + step * (left_step / 16), right + step * (right_step / 16), stage + step);
    wgmma_commit();
    if (stage > 0) {
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (arrives_for_warp(lane)) barrier_arrive(shared.empty(previous));
    }
    previous = at.stage;
  }
  wgmma_wait();
  if (!int8 && arrives_for_warp(lane)) barrier_arrive(shared.empty(previous));
#pragma unroll
  for (int i = 0; i < 4 * blocks_of_8; ++i) pin(product[i]);
  return previous;
}

/// product = the group's rows times the next chunk, for integers: sums become float32, and the last step is added.
__device__ __forceinline__ void multiply_integers(float (&product)[4 * blocks_of_8], uint64 lefts, const Shared& shared,
                                                  RingPosition<policy.stages>& at) {
  constexpr int last = policy.steps - 1;
  int sum[4 * blocks_of_8];
  const int stage = multiply_chunk(sum, lefts, shared, at);
#pragma unroll
  for (int i = 0; i < 4 * blocks_of_8; ++i) product[i] = static_cast<float>(sum[i]), pin(product[i]);
  wgmma_fence();
  const int right = stage * policy.stage_bytes() + last % stage_steps * right_step;
  multiply_step(product, lefts + last * (left_step / 16), wgmma_descriptor(shared.memory, chunk) + right / 16, 1);
  wgmma_commit();
  wgmma_wait();
  if (arrives_for_warp(threadIdx.x % 32)) barrier_arrive(shared.empty(stage));
#pragma unroll
  for (int i = 0; i < 4 * blocks_of_8; ++i) pin(product[i]);
}

/// The signs of both rows of a lane.
__device__ __forceinline__ uint2 signs_of(const float (&product)[4 * blocks_of_8]) {
  uint2 words{};
#pragma unroll
  for (int b = blocks_of_8 - 1; b >= 0; --b)
#pragma unroll
    for (int e = 1; e >= 0; --e) {
      words.x = __funnelshift_l(__float_as_uint(product[4 * b + e]), words.x, 1);
      words.y = __funnelshift_l(__float_as_uint(product[4 * b + 2 + e]), words.y, 1);
    }
  return words;
}

/// Leaves them for each row, or for all lanes of a lane's columns; the warp's rows begin at `first`.
__device__ __forceinline__ void leave(const ts::cuda::ProjectionTilesArguments& a, uint2 words, int64 first, int c) {
  const int lane = threadIdx.x % 32;
  if constexpr (policy.each_row) {
    const int64 row = first + lane / 4;
    uint32* const to = a.signs + (c * 4 + lane % 4) * a.count + row;
    if (row < a.count) to[0] = words.x;
    if (row + 8 < a.count) to[8] = words.y;
  } else {
    uint32 word = words.x | words.y;
#pragma unroll
    for (int step = 4; step < 32; step *= 2) word |= __shfl_xor_sync(everyone, word, step);
    if (lane < 4 && first < a.count) a.signs[(first / ts::cuda::projection_rows * a.chunk_count + c) * 4 + lane] = word;
  }
}

extern "C" __global__ void __launch_bounds__(policy.threads(), 1)
    projection_tiles(ts::cuda::ProjectionTilesArguments a) {
  extern __shared__ __align__(128) unsigned char memory[];
  const Shared shared{memory};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < policy.stages; ++stage)
      barrier_init(shared.full(stage), 1), barrier_init(shared.empty(stage), 4 * groups * warp_arrivals);
    barrier_init_fence();
  }
  __syncthreads();
  const int warp = __shfl_sync(everyone, threadIdx.x / 32, 0), lane = threadIdx.x % 32, group = warp / 4;
  if (warp == 4 * groups) {
    if (lane == 0) fill_ring(a, shared);
    return;
  }
  unsigned char* const left = memory + policy.left_at() + group * policy.left_bytes();
  const uint64 lefts = wgmma_descriptor(left, group_rows);
  RingPosition<policy.stages> at;
  for (int64 block = blockIdx.x; block * (groups * group_rows) < a.count; block += gridDim.x) {
    const int64 first = block * (groups * group_rows) + 16 * warp;
    load_rows(a, left, first);
    wait_for_copies();
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
#pragma unroll 1
    for (int c = 0; c < a.chunk_count; ++c) {
      float product[4 * blocks_of_8];
      if constexpr (int8)
        multiply_integers(product, lefts, shared, at);
      else
        (void)multiply_chunk(product, lefts, shared, at);
      leave(a, signs_of(product), first, c);
    }
    // All warps of the group have multiplied the rows before they are written over.
    asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
  }
}
