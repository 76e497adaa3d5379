// C = alpha op(A) B + beta C as in tsmttsm.cuh, for 16-bit types and an A of many columns, row-major, whose
// lines are a multiple of 16 bytes apart: the copy engine brings boxes of 64 columns of both factors, and the
// tensor instructions of warpgroups read them where they lie. No thread touches a number before it is a sum.
//
// Each warpgroup has 64 columns of A. A chunk's products start from zero, since tensor instructions truncate
// when they add, and are added in float64.
#pragma once

#include "tallskinny/gemm/device/tensor_copy.cuh"
#include "tallskinny/gemm/device/wgmma_half.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/inner.cuh"

constexpr int groups_of_block = policy.groups(), threads = policy.threads(), blocks = policy.blocks();
constexpr int box_bytes = policy.box_bytes, values = policy.values();
static_assert(blocks <= 8 && folded_chunk % 16 == 0, "one box of B");

/// By the first warp: brings chunk after chunk of both factors.
struct BoxRing {
  const ts::cuda::InnerHalfArguments& of;
  const Part& part;
  unsigned char* stages;
  uint64 *full, *empty;
  int64 to_ask;  ///< the chunk after the one that was asked for last
  RingPosition<policy.stages> to_fill = {};

  __device__ __forceinline__ void fill([[maybe_unused]] int lane) {
    if (to_ask >= part.chunks) return;
    barrier_wait(empty + to_fill.stage, to_fill.parity ^ 1);
#if __CUDA_ARCH__ >= 900
    if (lane == 0) {
      unsigned char* const stage = stages + to_fill.stage * policy.stage_bytes();
      uint64* const barrier = full + to_fill.stage;
      const int column = part.panel * policy.p - part.overlap, row = static_cast<int>(to_ask) * folded_chunk;
      barrier_arrive_expecting(barrier, policy.stage_bytes());
#pragma unroll
      for (int box = 0; box < groups_of_block; ++box)
        tensor_load(stage + box * box_bytes, of.map_a, column + box * policy.box, row, barrier);
      tensor_load(stage + groups_of_block * box_bytes, of.map_b, 0, row, barrier);
    }
    __syncwarp();
#endif
    to_fill.advance(), to_ask += part.blocks;
  }
};

/// The sums over this block's chunks.
__device__ __forceinline__ void sum_chunks(BoxRing& ring, double (&sum)[values], int warp, int lane) {
  float product[values];
  RingPosition<policy.stages> at;
  for (int64 chunk = ring.part.block; chunk < ring.part.chunks; chunk += ring.part.blocks) {
    if (warp == 0) ring.fill(lane);  // into the stage that was used last
    const unsigned char* const stage = ring.stages + at.stage * policy.stage_bytes();
    barrier_wait(ring.full + at.stage, at.parity);
    const uint64 left = wgmma_lines(stage + warp / 4 * box_bytes),
                 right = wgmma_lines(stage + groups_of_block * box_bytes);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < folded_chunk / 16; ++k)
      multiply_lines<blocks>(product, left + k * (2048 / 16), right + k * (2048 / 16), k);
    wgmma_commit();
    wgmma_wait();
    if (arrives_for_warp(lane)) barrier_arrive(ring.empty + at.stage);
    at.advance();
#pragma unroll
    for (int i = 0; i < values; ++i) asm volatile("" : "+f"(product[i])::"memory");
#pragma unroll
    for (int i = 0; i < values; ++i) sum[i] += static_cast<double>(product[i]);
  }
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    tsmttsm_half(const __grid_constant__ ts::cuda::InnerHalfArguments arguments) {
  extern __shared__ unsigned char unaligned[];
  __shared__ uint64 full[policy.stages], empty[policy.stages];
  unsigned char* const stages = unaligned + (-shared_address(unaligned) & 1023);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  if (thread == 0) {
    for (int s = 0; s < policy.stages; ++s)
      barrier_init(full + s, 1), barrier_init(empty + s, threads / 32 * warp_arrivals);
    barrier_init_fence();
  }
  __syncthreads();

  const Part part = part_of(arguments.inner);
  BoxRing ring{arguments, part, stages, full, empty, part.block};
  if (warp == 0)
#pragma unroll 1
    for (int s = 0; s + 1 < policy.stages; ++s) ring.fill(lane);

  double sum[values] = {};
  sum_chunks(ring, sum, warp, lane);
  __syncthreads();
  // All that was asked for has come and was used: the sums may lie there.
  double* const kept = reinterpret_cast<double*>(stages);
#pragma unroll
  for (int i = 0; i < values; ++i) kept[i * policy.kept_stride() + thread] = sum[i];
  __syncthreads();

  const auto real_product = [&](int l, int r) {
    const int value = r / 8 * 4 + l % 16 / 8 * 2 + r % 2;
    return kept[value * policy.kept_stride() + l / 16 * 32 + l % 8 * 4 + r % 8 / 2];
  };
  using Sum = Totals<double, result_count, parts>;
  finish(totals_of<Sum>(part, nullptr, arguments.inner), output_of(part, arguments.inner), arguments.inner, threads,
         real_product);
}
