// Tensor instructions of a whole warpgroup (sm_90a) for 16-bit types: c = left right (+ c) for 64 x 8 Blocks
// x 16, both from shared memory, where they lie by lines: 64 numbers of one K in 128 bytes (tensor_copy.cuh).
#pragma once

#include "tallskinny/gemm/device/wgmma.cuh"

/// What the instruction is told of 16 such lines.
__device__ __forceinline__ uint64 wgmma_lines(const unsigned char* box) {
  constexpr uint64 eight_lines = 1024 / 16, exchanged_in_lines = 1;
  return (shared_address(box) & 0x3ffff) / 16 | eight_lines << 16 | eight_lines << 32 | exchanged_in_lines << 62;
}

/// c = left right (+ c) for 16 lines of two such boxes: 64 columns of the left one times 8 Blocks columns of the right
/// one.
template <int Blocks>
__device__ __forceinline__ void multiply_lines(float (&c)[4 * Blocks], uint64 left, uint64 right, int add) {
  if constexpr (element_type == ts::DType::float16)
    Wgmma<Blocks>::template multiply_f16<1>(c, left, right, add);
  else
    Wgmma<Blocks>::template multiply_bf16<1>(c, left, right, add);
}
