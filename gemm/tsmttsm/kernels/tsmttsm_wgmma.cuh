// C = alpha op(A) B + beta C as in tsmttsm.cuh, for float32 and complex64 where arithmetic bounds: by tensor
// instructions of whole warpgroups, which do half as much again in the same time. (Narrow Gram matrices:
// gram_wgmma.cuh.)
//
// The product is 64 TS_WARPGROUPS x TS_COLUMNS; TS_SLICES such groups of warps take different rows of a
// chunk, 32 at a time. While the instructions of one batch of rows go on, the warps of a slice split the
// right factor of the next one into high and low parts, laid out by K, and read their own columns of the left
// factor; these are split in registers. x = high + low, both of 11 bits, and the product of the low parts is
// left out (3xTF32). The small products come first in a batch; batches are added by ordinary, rounded
// additions, since tensor instructions truncate; and every TS_FLUSH batches the sums move to float64, in
// global memory, where each thread has its own.
//
//   Beside what inner.cuh asks for (TS_SUBS 4): TS_STAGES, TS_PRODUCERS (4, of which one fills by bulk
//   copies), TS_FLUSH, TS_WARPGROUPS, TS_COLUMNS (a multiple of 8, at most 128), TS_SLICES
#pragma once

#include "tallskinny/gemm/device/wgmma.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/inner.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/split.cuh"

constexpr int sub_batch = 8;                                  ///< rows of each of the four sub-blocks in a batch
constexpr int batches = TS_SUB_ROWS / sub_batch / TS_SLICES;  ///< of a slice in a chunk
static_assert(batches * sub_batch * TS_SLICES == TS_SUB_ROWS && TS_SUBS == 4, "slices take whole batches");
constexpr int slice_threads = 128 * TS_WARPGROUPS, consumers = slice_threads * TS_SLICES;
constexpr int threads = consumers + 32 * TS_PRODUCERS;
constexpr int fillers = OperandA::in_bulk && OperandB::in_bulk ? 32 : 32 * TS_PRODUCERS;
/// Registers of a thread that fills; the others take what is left, in steps of 8.
constexpr int filler_registers = fillers == 32 ? 40 : 56;
constexpr int consumer_registers = (65536 - 32 * TS_PRODUCERS * filler_registers) / consumers / 8 * 8;
/// Four K of all columns, the same of all K of a batch: the high parts, or the low ones.
constexpr int quad_bytes = 16 * TS_COLUMNS, plane_bytes = sub_batch * quad_bytes;
constexpr int slice_bytes = 2 * 2 * plane_bytes, ring_offset = 128 + TS_SLICES * slice_bytes;
constexpr int stage_bytes = OperandA::stage_bytes + (TS_GRAM ? 0 : OperandB::stage_bytes);
constexpr int left_stage = !TS_GRAM && TS_SWAP ? OperandA::stage_bytes : 0;
constexpr int right_stage = TS_GRAM || TS_SWAP ? 0 : OperandA::stage_bytes;
constexpr int values = TS_COLUMNS / 2;  ///< sums of a thread
/// Columns that a lane reads at once: the two rows of the instruction that it serves.
constexpr int pair = Left::vector >= 2 ? 2 : 1;

struct Consumer {
  unsigned char* ring;
  uint64 *full, *empty;
  unsigned char* planes;  ///< of this slice: two batches of high and low parts
  int slice, warp, lane;  ///< warp: of the slice
  int left_offset[2], right_shift;
  double* sums;  ///< this thread's, `consumers` from one value to the next

  RingPosition<TS_STAGES> at = {};
  int in_chunk = 0;

  /// Reads the next batch: the left factor's columns, and the right factor into `planes`.
  __device__ __forceinline__ void fetch(uint32 (&left)[16], int buffer) {
    const unsigned char* stage = ring + at.stage * stage_bytes;
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
    constexpr int quads = sub_batch * TS_COLUMNS;
#pragma unroll
    for (int i = 0; i < (quads + slice_threads - 1) / slice_threads; ++i) {
      const int quad = i * slice_threads + 32 * warp + lane;
      if (quads % slice_threads != 0 && quad >= quads) break;
      const int k = quad / TS_COLUMNS, column = quad % TS_COLUMNS;
      const unsigned char* from = stage + right_stage + right_shift + (first + k) * Right::row_bytes +
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

  /// The sums over `count` batches, for columns from First on.
  template <int First>
  __device__ __forceinline__ void run(int64 count) {
    constexpr int blocks = (TS_COLUMNS - First) / 8;
    float total[4 * blocks], c[4 * blocks];
    uint32 left[16], high[4][4], low[4][4];
#pragma unroll
    for (int i = 0; i < 4 * blocks; ++i) total[i] = 0, sums[static_cast<int64>(4 * (First / 8) + i) * consumers] = 0;
    if (count > 0) fetch(left, 0);
    int since_flush = 0;
    for (int64 b = 0; b < count; ++b) {
      fence_for_async_reads();
      slice_barrier();
      const unsigned char* plane = planes + static_cast<int>(b % 2) * (2 * plane_bytes) + First * 16;
      // K of the instruction: row 2 s of the four sub-blocks, then row 2 s + 1.
#pragma unroll
      for (int s = 0; s < 4; ++s)
#pragma unroll
        for (int i = 0; i < 4; ++i) split(left[4 * s + i], high[s][i], low[s][i]);
      wgmma_fence();
      const uint64 right_high = wgmma_descriptor(plane, TS_COLUMNS);
      const uint64 right_low = wgmma_descriptor(plane + plane_bytes, TS_COLUMNS);
      constexpr uint64 next = 2 * quad_bytes / 16;
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        Wgmma<blocks>::multiply(c, low[s], right_high + s * next, s);
        Wgmma<blocks>::multiply(c, high[s], right_low + s * next, 1);
      }
#pragma unroll
      for (int s = 0; s < 4; ++s) Wgmma<blocks>::multiply(c, high[s], right_high + s * next, 1);
      wgmma_commit();
      if (b + 1 < count) fetch(left, static_cast<int>((b + 1) % 2));
      wgmma_wait();
      // Nothing that the instructions use may be touched before here.
#pragma unroll
      for (int i = 0; i < 4 * blocks; ++i) asm volatile("" : "+f"(c[i])::"memory");
#pragma unroll
      for (int s = 0; s < 4; ++s)
#pragma unroll
        for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(high[s][i]), "+r"(low[s][i])::"memory");
#pragma unroll
      for (int i = 0; i < 4 * blocks; ++i) total[i] += c[i];
      if (++since_flush == TS_FLUSH || b + 1 == count) {
        since_flush = 0;
#pragma unroll
        for (int i = 0; i < 4 * blocks; ++i) {
          atomicAdd(sums + static_cast<int64>(4 * (First / 8) + i) * consumers, static_cast<double>(total[i]));
          total[i] = 0;
        }
      }
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

extern "C" __global__ void __launch_bounds__(threads, 1)
    tsmttsm_wgmma(OperandArgument a_argument, OperandArgument b_argument, int64 rows, int64 a_columns, Result* c,
                  int64 c_row_stride, int64 c_column_stride, Result* mirror, Complex<double> alpha,
                  Complex<double> beta, int adjoint, int panel_blocks, int group_size, double* partials,
                  double* mailboxes, unsigned* tickets, PartsArgument sums_of_parts) {
  extern __shared__ __align__(128) unsigned char shared[];
  uint64* full = reinterpret_cast<uint64*>(shared);
  uint64* empty = full + TS_STAGES;
  unsigned char* ring = shared + ring_offset;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

  if (thread == 0) {
    const int arrivals = OperandA::arrivals(fillers) + (TS_GRAM ? 0 : OperandB::arrivals(fillers));
    for (int s = 0; s < TS_STAGES; ++s)
      barrier_init(full + s, arrivals), barrier_init(empty + s, consumers / 32 * warp_arrivals);
    barrier_init_fence();
  }
  __syncthreads();

  const Part part = part_of(a_argument, b_argument, rows, a_columns, c, c_row_stride, panel_blocks, sums_of_parts);
  const int64 chunks = part.chunks;
  const OperandA a(a_argument, rows);
#if !TS_GRAM
  const OperandB b(b_argument, rows);
#endif
  // The sums of this block in float64, behind all partial results.
  const int panels = static_cast<int>(gridDim.x) / panel_blocks;
  const int groups = (panel_blocks + group_size - 1) / group_size;
  double* sums = partials + static_cast<int64>(panels) * (panel_blocks + groups) * result_parts +
                 static_cast<int64>(blockIdx.x) * values * consumers;

  if (thread >= consumers) {
#if TS_SLICES * TS_WARPGROUPS > 1
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(filler_registers));
#endif
    if (thread >= consumers + fillers) return;
    RingPosition<TS_STAGES> to_fill;
    for (int64 chunk = part.block; chunk < chunks; chunk += panel_blocks) {
      unsigned char* stage = ring + to_fill.stage * stage_bytes;
      barrier_wait(empty + to_fill.stage, to_fill.parity ^ 1);
      a.fill(part.chunk_at(chunk), stage, full + to_fill.stage, thread - consumers, fillers);
#if !TS_GRAM
      b.fill(part.chunk_at(chunk), stage + OperandA::stage_bytes, full + to_fill.stage, thread - consumers, fillers);
#endif
      to_fill.advance();
    }
    return;
  }
#if TS_SLICES * TS_WARPGROUPS > 1
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(consumer_registers));
#endif
  {
#if TS_GRAM
    const Left& left = a;
    const Right& right = a;
#elif TS_SWAP
    const Left& left = b;
    const Right& right = a;
#else
    const Left& left = a;
    const Right& right = b;
#endif
    const int slice = warp / (4 * TS_WARPGROUPS), of_slice = warp % (4 * TS_WARPGROUPS), g = lane / 4, t = lane % 4;
    Consumer consumer{ring, full,        empty,        shared + 128 + slice * slice_bytes, slice, of_slice, lane,
                      {},   right.shift, sums + thread};
    for (int i = 0; i < 2; ++i) {
      const int column = 16 * of_slice + (pair == 2 ? 2 * g : 8 * i + g), last = (Left::folded - 1) / pair * pair;
      consumer.left_offset[i] = left_stage + left.offset(t, column < last ? column : last);
    }
    const int64 mine = part.block < chunks ? (chunks - part.block + panel_blocks - 1) / panel_blocks * batches : 0;
    // A Gram matrix needs what is on and above the diagonal.
    constexpr int below = TS_GRAM && TS_COLUMNS > 64 ? 64 : 0;
    if (TS_GRAM && TS_WARPGROUPS > 1 && of_slice >= 4)
      consumer.run<below>(mine);
    else
      consumer.run<0>(mine);
  }
  __syncthreads();

  const auto real_product = [&](int l, int r) {
    const int row = l % 16, g = pair == 2 ? row / 2 : row % 8, half = pair == 2 ? row % 2 : row / 8;
    const int of_slice = l / 16 * 32 + g * 4 + r % 8 / 2, value = r / 8 * 4 + half * 2 + r % 2;
    double sum = 0;
    for (int s = 0; s < TS_SLICES; ++s)
      sum += __ldcg(sums + static_cast<int64>(value) * consumers + s * slice_threads + of_slice);
    return sum;
  };
  using Sum = Totals<double, result_count, parts>;
  finish(totals_of<Sum>(part, nullptr, partials, mailboxes, tickets, group_size),
         output_of(part, c, c_row_stride, c_column_stride, mirror, alpha, beta, adjoint, sums_of_parts), part,
         a_argument, b_argument, rows, consumers, real_product);
}
