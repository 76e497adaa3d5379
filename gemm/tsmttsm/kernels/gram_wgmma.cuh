// C = alpha op(A) A + beta C for float32 and complex64 where arithmetic bounds: by tensor instructions of
// whole warpgroups, with as little of it as a symmetric product of split numbers needs.
//
// A = H + L, high and low parts of 11 bits, the product of the low ones left out (3xTF32). Of a symmetric
// product H^T H + 2 H^T L is enough: half of it and half of its transpose are H^T H + H^T L + L^T H.
//
// A warpgroup has the whole product, of at most 64 columns; slices of them take different rows of a
// chunk, 32 at a time. Each row of a chunk is read once: a warp splits its columns
// of the next batch while the instructions of this one go on, keeps the parts as left factor, and leaves them
// in a plane of shared memory, by K, as right factor for itself and the others. Batches start from zero and
// are added by ordinary, rounded additions, since tensor instructions truncate; every policy.flush batches the
// sums move to float64, in global memory, where each thread has its own.
#pragma once

#include "tallskinny/gemm/device/wgmma.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/inner.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/split.cuh"

constexpr int columns = policy.tile_columns();
constexpr int sub_batch = 8;  ///< rows of each of the four sub-blocks in a batch
constexpr int batches = policy.sub_rows / sub_batch / policy.slices;  ///< of a slice in a chunk
static_assert(batches * sub_batch * policy.slices == policy.sub_rows && policy.subs() == 4,
              "slices take whole batches");
constexpr int slice_threads = 128, consumers = policy.consumers(), threads = policy.threads();
constexpr int fillers = OperandA::in_bulk ? 32 : 32 * policy.producers;
/// Registers of a thread that fills; the others take what is left, in steps of 8.
constexpr int filler_registers = policy.filler_registers(fillers == 32);
constexpr int consumer_registers = registers_left(threads, 32 * policy.producers, filler_registers);
/// Four K of all columns, the same of all K of a batch: the high parts, or the low ones.
constexpr int quad_bytes = 16 * columns, part_bytes = policy.plane_bytes(), plane_bytes = 2 * part_bytes;
constexpr int planes = 2;  ///< batches of a slice that have both parts in shared memory at once
static_assert(planes * plane_bytes == policy.slice_bytes());
static_assert(8 * 2 * (policy.stages + policy.slices * planes) <= policy.planes_offset(), "the barriers fit");
constexpr int values = columns / 2;  ///< sums of a thread
/// Columns that a lane reads at once: the two rows of the instruction that it serves.
constexpr int pair = OperandA::vector >= 2 ? 2 : 1;
/// Where a column lies among the rows of the instruction, and in a plane.
__device__ __forceinline__ int place_of(int column) {
  return pair == 1 ? column : column / 16 * 16 + column % 16 / 2 + column % 2 * 8;
}

/// The high parts of a lane's numbers of a batch, as left factors of its four instructions.
using LeftParts = uint32[4][4];

struct Rings {
  const unsigned char* stages;
  uint64 *full, *empty, *full_planes, *empty_planes;  ///< barriers; of planes those of a slice
  unsigned char* planes;
};
/// What a lane reads of a batch, and where it leaves that in a plane.
struct Share {
  int first_row, left_offset[2], place;
  bool none;  ///< a warp whose columns do not exist
};

struct Consumer {
  Rings rings;
  Share share;
  double* sums;  ///< this thread's, `consumers` from one value to the next

  RingPosition<policy.stages> at = {};
  RingPosition<planes> to = {}, from = {};
  int in_chunk = 0;
  float total[values], c[values];

  /// Reads the next batch and splits it into `next` and a plane.
  __device__ __forceinline__ void fetch(LeftParts& next) {
    if (in_chunk == 0) barrier_wait(rings.full + at.stage, at.parity);
    barrier_wait(rings.empty_planes + to.stage, to.parity ^ 1);
    if (!share.none) {
      const unsigned char* row = rings.stages + at.stage * OperandA::stage_bytes +
                                 (share.first_row + in_chunk * sub_batch) * OperandA::row_bytes;
      unsigned char* const plane = rings.planes + to.stage * plane_bytes + share.place;
#pragma unroll
      for (int k = 0; k < sub_batch; ++k, row += OperandA::row_bytes) {
        uint32 x[2];
        if constexpr (pair == 2) {
          const Words<8> two = load_words<8>(row + share.left_offset[0]);
          x[0] = two.w[0], x[1] = two.w[1];
        } else {
          x[0] = *reinterpret_cast<const uint32*>(row + share.left_offset[0]);
          x[1] = *reinterpret_cast<const uint32*>(row + share.left_offset[1]);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          uint32 high, low;
          split(x[i], high, low);
          unsigned char* const here = plane + k * quad_bytes + i * 128;
          *reinterpret_cast<uint32*>(here) = high;
          *reinterpret_cast<uint32*>(here + part_bytes) = __float_as_uint(2 * __uint_as_float(low));
          next[k / 2][k % 2 * 2 + i] = high;
        }
      }
    }
    // What was written to shared memory will be read by the tensor instructions.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    barrier_arrive(rings.full_planes + to.stage);
    to.advance();
    if (++in_chunk < batches) return;
    in_chunk = 0;
    __syncwarp();
    if (arrives_for_warp(threadIdx.x % 32)) barrier_arrive(rings.empty + at.stage);
    at.advance();
  }

  /// c = the product of a batch; K of the instructions: row 2 s of the four sub-blocks, then row 2 s + 1.
  __device__ __forceinline__ void multiply(const LeftParts& left) {
    constexpr uint64 next = 2 * quad_bytes / 16;
    const unsigned char* const plane = rings.planes + from.stage * plane_bytes;
    const uint64 high = wgmma_descriptor(plane, columns), low = wgmma_descriptor(plane + part_bytes, columns);
    wgmma_fence();
#pragma unroll
    for (int s = 0; s < 4; ++s) Wgmma<columns / 8>::multiply(c, left[s], low + s * next, s);
#pragma unroll
    for (int s = 0; s < 4; ++s) Wgmma<columns / 8>::multiply(c, left[s], high + s * next, 1);
    wgmma_commit();
  }

  /// One batch, and the reading of another one, if there is, into `next`.
  __device__ __forceinline__ void step(LeftParts& left, LeftParts& next, bool more) {
    barrier_wait(rings.full_planes + from.stage, from.parity);
    __syncwarp();  // who waits may have parted
    multiply(left);
    if (more) fetch(next);
    wgmma_wait();
    // Nothing that the instructions use may be touched before here.
#pragma unroll
    for (int i = 0; i < values; ++i) asm volatile("" : "+f"(c[i])::"memory");
#pragma unroll
    for (int s = 0; s < 4; ++s)
#pragma unroll
      for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(left[s][i])::"memory");
    if (arrives_for_warp(threadIdx.x % 32)) barrier_arrive(rings.empty_planes + from.stage);
    from.advance();
#pragma unroll
    for (int i = 0; i < values; ++i) total[i] += c[i];
  }

  __device__ __forceinline__ void flush() {
#pragma unroll
    for (int i = 0; i < values; ++i) {
      atomicAdd(sums + static_cast<int64>(i) * consumers, static_cast<double>(total[i]));
      total[i] = 0;
    }
  }

  /// The sums over `count` batches.
  __device__ __forceinline__ void run(int64 count) {
#pragma unroll
    for (int i = 0; i < values; ++i) total[i] = 0, sums[static_cast<int64>(i) * consumers] = 0;
    LeftParts even = {}, odd = {};
    if (count > 0) fetch(even);
    int since_flush = 0;
    for (int64 b = 0; b < count; b += 2) {
      step(even, odd, b + 1 < count);
      if (b + 1 < count) step(odd, even, b + 2 < count);
      if (++since_flush == policy.flush / 2) flush(), since_flush = 0;
    }
    flush();
  }
};

__device__ __forceinline__ void init_barriers(uint64* full) {
  uint64* const empty = full + policy.stages;
  uint64* const plane_barriers = empty + policy.stages;
  for (int s = 0; s < policy.stages; ++s)
    barrier_init(full + s, OperandA::arrivals(fillers)), barrier_init(empty + s, consumers / 32 * warp_arrivals);
  for (int s = 0; s < policy.slices; ++s)
    for (int p = 0; p < planes; ++p) {
      barrier_init(plane_barriers + (2 * s) * planes + p, slice_threads);
      barrier_init(plane_barriers + (2 * s + 1) * planes + p, slice_threads / 32 * warp_arrivals);
    }
  barrier_init_fence();
}

/// The warps that fill.
__device__ __forceinline__ void fill_ring(const Part& part, const OperandA& a, unsigned char* ring, uint64* full,
                                          uint64* empty, int thread) {
  give_registers<filler_registers>();
  if (thread >= fillers) return;
  RingPosition<policy.stages> to_fill;
  for (int64 chunk = part.block; chunk < part.chunks; chunk += part.blocks) {
    barrier_wait(empty + to_fill.stage, to_fill.parity ^ 1);
    a.fill(part.chunk_at(chunk), ring + to_fill.stage * OperandA::stage_bytes, full + to_fill.stage, thread, fillers);
    to_fill.advance();
  }
}

/// The others.
__device__ __forceinline__ void consume(const Part& part, const OperandA& a, unsigned char* shared, double* sums,
                                        int thread) {
  take_registers<consumer_registers>();
  uint64* const full = reinterpret_cast<uint64*>(shared);
  uint64* const empty = full + policy.stages;
  const int warp = thread / 32, lane = thread % 32, slice = warp / 4, of_slice = warp % 4, g = lane / 4, t = lane % 4;
  const int64 mine =
      part.block < part.chunks ? (part.chunks - part.block + part.blocks - 1) / part.blocks * batches : 0;
  Rings rings{shared + policy.ring_offset(clustered),
              full,
              empty,
              empty + policy.stages + 2 * slice * planes,
              nullptr,
              shared + policy.planes_offset() + slice * (planes * plane_bytes)};
  rings.empty_planes = rings.full_planes + planes;
  Share share{slice * batches * sub_batch, {}, (16 * of_slice + g) * 16 + t * 4, 16 * of_slice >= columns};
  for (int i = 0; i < 2; ++i) {
    const int column = 16 * of_slice + (pair == 2 ? 2 * g : 8 * i + g), last = (OperandA::folded - 1) / pair * pair;
    share.left_offset[i] = a.offset(t, column < last ? column : last);
  }
  Consumer{rings, share, sums + thread}.run(mine);
}

extern "C" __global__ void __launch_bounds__(threads, 1) gram_wgmma(const __grid_constant__ InnerArguments arguments) {
  extern __shared__ __align__(128) unsigned char shared[];
  uint64* const full = reinterpret_cast<uint64*>(shared);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) init_barriers(full);
  __syncthreads();

  const Part part = part_of(arguments);
  const OperandA a(part.a, part.rows);
  double* const sums = block_sums(part, arguments, values * consumers);
  if (thread >= consumers) {
    fill_ring(part, a, shared + policy.ring_offset(clustered), full, full + policy.stages, thread - consumers);
    return;
  }
  consume(part, a, shared, sums, thread);
  __syncthreads();

  const auto sum_at = [&](int l, int r) {
    const int place = place_of(l), of_slice = place / 16 * 32 + place % 8 * 4 + place_of(r) % 8 / 2;
    const int value = place_of(r) / 8 * 4 + place % 16 / 8 * 2 + place_of(r) % 2;
    double sum = 0;
    for (int s = 0; s < policy.slices; ++s)
      sum += __ldcg(sums + static_cast<int64>(value) * consumers + s * slice_threads + of_slice);
    return sum;
  };
  const auto real_product = [&](int l, int r) { return 0.5 * (sum_at(l, r) + sum_at(r, l)); };
  using Sum = Totals<double, result_count, parts>;
  finish(totals_of<Sum>(part, nullptr, arguments), output_of(part, arguments), arguments, consumers, real_product);
}
