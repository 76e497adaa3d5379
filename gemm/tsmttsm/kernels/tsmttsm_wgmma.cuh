// C = alpha op(A) B + beta C as in tsmttsm.cuh, for float32 and complex64 where arithmetic bounds: by tensor
// instructions of whole warpgroups, which do half as much again in the same time. (Narrow Gram matrices:
// gram_wgmma.cuh.)
//
// The product is 64 policy.warps_left x columns; policy.slices such groups of warps take different rows of a
// chunk, 32 at a time. While the instructions of one batch of rows go on, the warps of a slice split the
// right factor of the next one into high and low parts, laid out by K, and read their own columns of the left
// factor; these are split in registers. x = high + low, both of 11 bits, and the product of the low parts is
// left out (3xTF32). The small products come first in a batch; batches are added by ordinary, rounded
// additions, since tensor instructions truncate; and every policy.flush batches the sums move to float64, in
// global memory, where each thread has its own.
#pragma once

#include "tallskinny/gemm/device/wgmma.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/inner.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/split.cuh"

constexpr int columns = policy.tile_columns();
constexpr int sub_batch = 8;  ///< rows of each of the four sub-blocks in a batch
constexpr int batches = policy.sub_rows / sub_batch / policy.slices;  ///< of a slice in a chunk
static_assert(batches * sub_batch * policy.slices == policy.sub_rows && policy.subs() == 4,
              "slices take whole batches");
constexpr int slice_threads = 128 * policy.warps_left, consumers = policy.consumers();
constexpr int threads = policy.threads();
constexpr int fillers = OperandA::in_bulk && OperandB::in_bulk ? 32 : 32 * policy.producers;
/// Registers of a thread that fills; the others take what is left, in steps of 8. One warpgroup has enough.
constexpr bool gives = policy.slices * policy.warps_left > 1;
constexpr int filler_registers = policy.filler_registers(fillers == 32);
constexpr int consumer_registers = (65536 - 32 * policy.producers * filler_registers) / consumers / 8 * 8;
/// Four K of all columns, the same of all K of a batch: the high parts, or the low ones.
constexpr int quad_bytes = 16 * columns, plane_bytes = policy.plane_bytes();
constexpr int values = columns / 2;  ///< sums of a thread
/// Columns that a lane reads at once: the two rows of the instruction that it serves.
constexpr int pair = Left::vector >= 2 ? 2 : 1;

struct Consumer {
  unsigned char* ring;
  uint64 *full, *empty;
  unsigned char* planes;  ///< of this slice: two batches of high and low parts
  int slice, warp, lane;  ///< warp: of the slice
  int left_offset[2], right_shift;
  double* sums;  ///< this thread's, `consumers` from one value to the next

  RingPosition<policy.stages> at = {};
  int in_chunk = 0;

  /// Reads the next batch: the left factor's columns, and the right factor into `planes`.
  __device__ __forceinline__ void fetch(uint32 (&left)[16], int buffer) {
    const unsigned char* stage = ring + at.stage * policy.stage_bytes();
    if (in_chunk == 0) barrier_wait(full + at.stage, at.parity);
    const int first = (slice * batches + in_chunk) * sub_batch;
#pragma unroll
    for (int k = 0; k < sub_batch; ++k) {
      const unsigned char* row = stage + (first + k) * Left::row_bytes;
      if constexpr (pair == 2) {
        const Words<8> two = load_words<8>(row + left_offset[0]);
        left[2 * k] = two.w[0], left[2 * k + 1] = two.w[1];
      } else {
        left[2 * k] = *reinterpret_cast<const uint32*>(row + left_offset[0]);
        left[2 * k + 1] = *reinterpret_cast<const uint32*>(row + left_offset[1]);
      }
    }
    unsigned char* to = planes + buffer * (2 * plane_bytes);
    constexpr int quads = sub_batch * columns;
#pragma unroll
    for (int i = 0; i < (quads + slice_threads - 1) / slice_threads; ++i) {
      const int quad = i * slice_threads + 32 * warp + lane;
      if (quads % slice_threads != 0 && quad >= quads) break;
      const int k = quad / columns, column = quad % columns;
      const unsigned char* from = stage + policy.right_offset() + right_shift + (first + k) * Right::row_bytes +
                                  4 * (column < Right::folded ? column : Right::folded - 1);
      uint4 high, low;
      split(*reinterpret_cast<const uint32*>(from), high.x, low.x);
      split(*reinterpret_cast<const uint32*>(from + Right::sub_pitch), high.y, low.y);
      split(*reinterpret_cast<const uint32*>(from + 2 * Right::sub_pitch), high.z, low.z);
      split(*reinterpret_cast<const uint32*>(from + 3 * Right::sub_pitch), high.w, low.w);
      *reinterpret_cast<uint4*>(to + quad * 16) = high;
      *reinterpret_cast<uint4*>(to + plane_bytes + quad * 16) = low;
    }
    if (++in_chunk < batches) return;
    in_chunk = 0;
    __syncwarp();
    if (arrives_for_warp(lane)) barrier_arrive(empty + at.stage);
    at.advance();
  }

  /// c = the product of a batch, with columns from First on; goes on while the caller does.
  template <int First, int N>
  __device__ __forceinline__ void multiply(float (&c)[N], const uint32 (&left)[16], uint32 (&high)[4][4],
                                           uint32 (&low)[4][4], int64 batch) const {
    using Instruction = Wgmma<N / 4>;
    const unsigned char* plane = planes + static_cast<int>(batch % 2) * (2 * plane_bytes) + First * 16;
    // K of the instruction: row 2 s of the four sub-blocks, then row 2 s + 1.
#pragma unroll
    for (int s = 0; s < 4; ++s)
#pragma unroll
      for (int i = 0; i < 4; ++i) split(left[4 * s + i], high[s][i], low[s][i]);
    wgmma_fence();
    const uint64 right_high = wgmma_descriptor(plane, columns);
    const uint64 right_low = wgmma_descriptor(plane + plane_bytes, columns);
    constexpr uint64 next = 2 * quad_bytes / 16;
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      Instruction::multiply(c, low[s], right_high + s * next, s);
      Instruction::multiply(c, high[s], right_low + s * next, 1);
    }
#pragma unroll
    for (int s = 0; s < 4; ++s) Instruction::multiply(c, high[s], right_high + s * next, 1);
    wgmma_commit();
  }

  /// Adds to the sums in float64, and begins anew.
  template <int First, int N>
  __device__ __forceinline__ void flush(float (&total)[N]) const {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      atomicAdd(sums + static_cast<int64>(4 * (First / 8) + i) * consumers, static_cast<double>(total[i]));
      total[i] = 0;
    }
  }

  /// The sums over `count` batches, for columns from First on.
  template <int First>
  __device__ __forceinline__ void run(int64 count) {
    constexpr int n = (columns - First) / 2;
    float total[n], c[n];
    uint32 left[16], high[4][4], low[4][4];
#pragma unroll
    for (int i = 0; i < n; ++i) total[i] = 0, sums[static_cast<int64>(4 * (First / 8) + i) * consumers] = 0;
    if (count > 0) fetch(left, 0);
    int since_flush = 0;
    for (int64 b = 0; b < count; ++b) {
      fence_for_async_reads();
      slice_barrier();
      multiply<First>(c, left, high, low, b);
      if (b + 1 < count) fetch(left, static_cast<int>((b + 1) % 2));
      wgmma_wait();
      // Nothing that the instructions use may be touched before here.
#pragma unroll
      for (int i = 0; i < n; ++i) asm volatile("" : "+f"(c[i])::"memory");
#pragma unroll
      for (int s = 0; s < 4; ++s)
#pragma unroll
        for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(high[s][i]), "+r"(low[s][i])::"memory");
#pragma unroll
      for (int i = 0; i < n; ++i) total[i] += c[i];
      if (++since_flush == policy.flush || b + 1 == count) since_flush = 0, flush<First>(total);
    }
  }

 private:
  /// What was written to shared memory will be read by the tensor instructions.
  static __device__ __forceinline__ void fence_for_async_reads() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __device__ __forceinline__ void slice_barrier() const {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + slice), "n"(slice_threads) : "memory");
  }
};

/// The warps that fill.
__device__ __forceinline__ void fill_ring(const Part& part, const OperandA& a, const OperandB& b, unsigned char* ring,
                                          uint64* full, uint64* empty, int thread) {
  if constexpr (gives) give_registers<filler_registers>();
  if (thread >= fillers) return;
  RingPosition<policy.stages> to_fill;
  for (int64 chunk = part.block; chunk < part.chunks; chunk += part.blocks) {
    unsigned char* stage = ring + to_fill.stage * policy.stage_bytes();
    barrier_wait(empty + to_fill.stage, to_fill.parity ^ 1);
    a.fill(part.chunk_at(chunk), stage, full + to_fill.stage, thread, fillers);
    if constexpr (!policy.gram)
      b.fill(part.chunk_at(chunk), stage + OperandA::stage_bytes, full + to_fill.stage, thread, fillers);
    to_fill.advance();
  }
}

/// The others.
__device__ __forceinline__ void consume(const Part& part, const OperandA& a, const OperandB& b, unsigned char* shared,
                                        double* sums, int thread) {
  if constexpr (gives) take_registers<consumer_registers>();
  const Left& left = pick<policy.swap>(b, a);
  const Right& right = pick < policy.swap || policy.gram > (a, b);
  const int warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
  const int slice = warp / (4 * policy.warps_left), of_slice = warp % (4 * policy.warps_left);
  uint64* const full = reinterpret_cast<uint64*>(shared);
  Consumer consumer{shared + policy.ring_offset(clustered),
                    full,
                    full + policy.stages,
                    shared + policy.planes_offset() + slice * policy.slice_bytes(),
                    slice,
                    of_slice,
                    lane,
                    {},
                    right.shift,
                    sums + thread};
  for (int i = 0; i < 2; ++i) {
    const int column = 16 * of_slice + (pair == 2 ? 2 * g : 8 * i + g), last = (Left::folded - 1) / pair * pair;
    consumer.left_offset[i] = policy.left_offset() + left.offset(t, column < last ? column : last);
  }
  const int64 mine =
      part.block < part.chunks ? (part.chunks - part.block + part.blocks - 1) / part.blocks * batches : 0;
  // A Gram matrix needs what is on and above the diagonal.
  constexpr int below = policy.gram && columns > 64 ? 64 : 0;
  if (policy.gram && policy.warps_left > 1 && of_slice >= 4)
    consumer.run<below>(mine);
  else
    consumer.run<0>(mine);
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    tsmttsm_wgmma(const __grid_constant__ InnerArguments arguments) {
  extern __shared__ __align__(128) unsigned char shared[];
  uint64* full = reinterpret_cast<uint64*>(shared);
  uint64* empty = full + policy.stages;
  const int thread = static_cast<int>(threadIdx.x);

  if (thread == 0) {
    const int arrivals = OperandA::arrivals(fillers) + (policy.gram ? 0 : OperandB::arrivals(fillers));
    for (int s = 0; s < policy.stages; ++s)
      barrier_init(full + s, arrivals), barrier_init(empty + s, consumers / 32 * warp_arrivals);
    barrier_init_fence();
  }
  __syncthreads();

  const Part part = part_of(arguments);
  const OperandA a(part.a, part.rows);
  const OperandB b(policy.gram ? part.a : part.b, part.rows);
  double* const sums = block_sums(part, arguments, values * consumers);
  if (thread >= consumers) {
    fill_ring(part, a, b, shared + policy.ring_offset(clustered), full, empty, thread - consumers);
    return;
  }
  consume(part, a, b, shared, sums, thread);
  __syncthreads();

  const auto real_product = [&](int l, int r) {
    const int row = l % 16, g = pair == 2 ? row / 2 : row % 8, half = pair == 2 ? row % 2 : row / 8;
    const int of_slice = l / 16 * 32 + g * 4 + r % 8 / 2, value = r / 8 * 4 + half * 2 + r % 2;
    double sum = 0;
    for (int s = 0; s < policy.slices; ++s)
      sum += __ldcg(sums + static_cast<int64>(value) * consumers + s * slice_threads + of_slice);
    return sum;
  };
  using Sum = Totals<double, result_count, parts>;
  finish(totals_of<Sum>(part, nullptr, arguments), output_of(part, arguments), arguments, consumers, real_product);
}
