// C = alpha op(A) B + beta C as in tsmttsm.cuh, for 16-bit types and an A of many columns, row-major, whose
// lines are a multiple of 16 bytes apart: the copy engine brings boxes of 64 columns of both factors, and the
// tensor instructions of warpgroups read them where they lie. No thread touches a number before it is a sum.
//
// Each warpgroup has 64 columns of A. A chunk's products start from zero, since tensor instructions truncate
// when they add, and are added in float64.
//
//   Beside what inner.cuh asks for: TS_STAGES
#pragma once

#include "tallskinny/gemm/device/tensor_copy.cuh"
#include "tallskinny/gemm/device/wgmma_half.cuh"
#include "tallskinny/gemm/tsmttsm/kernels/inner.cuh"

constexpr int groups_of_block = (TS_P + 63) / 64, threads = 128 * groups_of_block;
constexpr int box_bytes = folded_chunk * 128, stage_bytes = (groups_of_block + 1) * box_bytes;
constexpr int blocks = (TS_Q + 7) / 8, values = 4 * blocks;  ///< sums of a thread
/// From one sum of a thread to the next, once they lie in shared memory.
constexpr int kept_stride = threads + 4;
static_assert(blocks <= 8 && folded_chunk % 16 == 0, "one box of B");

extern "C" __global__ void __launch_bounds__(threads, 1)
    tsmttsm_half(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, int64 rows,
                 int64 a_columns, Result* c, int64 c_row_stride, int64 c_column_stride, Result* mirror,
                 Complex<double> alpha, Complex<double> beta, int panel_blocks, int group_size, double* partials,
                 unsigned* tickets) {
  extern __shared__ unsigned char unaligned[];
  __shared__ uint64 full[TS_STAGES], empty[TS_STAGES];
  unsigned char* const ring = unaligned + (-shared_address(unaligned) & 1023);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  if (thread == 0) {
    for (int s = 0; s < TS_STAGES; ++s)
      barrier_init(full + s, 1), barrier_init(empty + s, threads / 32 * warp_arrivals);
    barrier_init_fence();
  }
  __syncthreads();

  OperandArgument nowhere = {nullptr, 0, 0};  // A is known by its map
  const PartsArgument no_parts = {};
  const Part part = part_of(nowhere, nowhere, rows, a_columns, c, c_row_stride, panel_blocks, no_parts);
  // By the first warp: the chunk after the one that it asked for last.
  int64 to_ask = part.block;
  RingPosition<TS_STAGES> to_fill;
  const auto fill = [&] {
    if (to_ask >= part.chunks) return;
    barrier_wait(empty + to_fill.stage, to_fill.parity ^ 1);
#if __CUDA_ARCH__ >= 900
    if (lane == 0) {
      unsigned char* const stage = ring + to_fill.stage * stage_bytes;
      uint64* const barrier = full + to_fill.stage;
      const int column = part.panel * TS_P - part.overlap, row = static_cast<int>(to_ask) * folded_chunk;
      barrier_arrive_expecting(barrier, stage_bytes);
#pragma unroll
      for (int box = 0; box < groups_of_block; ++box)
        tensor_load(stage + box * box_bytes, map_a, column + box * 64, row, barrier);
      tensor_load(stage + groups_of_block * box_bytes, map_b, 0, row, barrier);
    }
    __syncwarp();
#endif
    to_fill.advance(), to_ask += panel_blocks;
  };
  if (warp == 0)
#pragma unroll 1
    for (int s = 0; s + 1 < TS_STAGES; ++s) fill();

  double sum[values] = {};
  float product[values];
  RingPosition<TS_STAGES> at;
  for (int64 chunk = part.block; chunk < part.chunks; chunk += panel_blocks) {
    if (warp == 0) fill();  // into the stage that was used last
    const unsigned char* const stage = ring + at.stage * stage_bytes;
    barrier_wait(full + at.stage, at.parity);
    const uint64 left = wgmma_lines(stage + warp / 4 * box_bytes),
                 right = wgmma_lines(stage + groups_of_block * box_bytes);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < folded_chunk / 16; ++k)
      WgmmaHalf<blocks>::multiply(product, left + k * (2048 / 16), right + k * (2048 / 16), k);
    wgmma_commit();
    wgmma_wait();
    if (arrives_for_warp(lane)) barrier_arrive(empty + at.stage);
    at.advance();
#pragma unroll
    for (int i = 0; i < values; ++i) asm volatile("" : "+f"(product[i])::"memory");
#pragma unroll
    for (int i = 0; i < values; ++i) sum[i] += static_cast<double>(product[i]);
  }
  __syncthreads();
  // All that was asked for has come and was used: the sums may lie there.
  double* const kept = reinterpret_cast<double*>(ring);
#pragma unroll
  for (int i = 0; i < values; ++i) kept[i * kept_stride + thread] = sum[i];
  __syncthreads();

  const auto real_product = [&](int l, int r) {
    const int value = r / 8 * 4 + l % 16 / 8 * 2 + r % 2;
    return kept[value * kept_stride + l / 16 * 32 + l % 8 * 4 + r % 8 / 2];
  };
  using Sum = Totals<double, result_count, parts>;
  finish(totals_of<Sum>(part, nullptr, partials, nullptr, tickets, group_size),
         output_of(part, c, c_row_stride, c_column_stride, mirror, alpha, beta, 0, no_parts), part, nowhere, nowhere,
         rows, threads, real_product);
}
