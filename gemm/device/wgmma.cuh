// Tensor instructions of a whole warpgroup (sm_90a): c = left right (+ c) for 64 x 8 Blocks x 8 of TF32, left from
// registers and right from shared memory: Wgmma<Blocks>::multiply<Sign>(c, left, right, add), right taken Sign times, 1
// or -1 (CUDA 13.0 miscompiles a sign of left). They go on while the warps do other things. c holds (g, 2t),
// (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1) of each block of 8 columns, for rows of the warp's 16.
//
// wgmma_instructions.cuh is made by cmake/TsWgmma.cmake.
//
// Right lies by K: 16 bytes hold four K of a column, columns follow one another, and then the next four K.
#pragma once

#include "tallskinny/gemm/device/pipeline.cuh"
#include "tallskinny/gemm/device/wgmma_instructions.cuh"

/// What the instruction is told of `columns` x 8 numbers at `from`.
__device__ __forceinline__ uint64 wgmma_descriptor(const unsigned char* from, int columns) {
  constexpr uint64 eight_columns = 128 / 16;
  return (shared_address(from) & 0x3ffff) / 16 | static_cast<uint64>(columns) << 16 | eight_columns << 32;
}
/// The same of float16 numbers line by line: of each column so many bytes of K, 64 or 128, in which sixteen bytes p of
/// line r are at p ^ (r % 8), of 64 bytes p ^ (r / 2 % 4). A line is as long as a stage, and 16 K are the next 32
/// bytes. The first line is at a multiple of 1024 bytes.
template <int Bytes>
__device__ __forceinline__ uint64 wgmma_descriptor_of_lines(const unsigned char* from) {
  static_assert(Bytes == 64 || Bytes == 128);
  constexpr uint64 eight_lines = 8 * Bytes / 16, swaps = Bytes == 128 ? 1 : 2;
  return (shared_address(from) & 0x3ffff) / 16 | uint64{1} << 16 | eight_lines << 32 | swaps << 62;
}
/// Before the first instruction that reads registers that were written.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits for all that was committed.
__device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
