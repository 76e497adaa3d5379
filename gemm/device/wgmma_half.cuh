// Tensor instructions of a whole warpgroup (sm_90a) for 16-bit types: c = left right (+ c) for 64 x 8 Blocks
// x 16, both from shared memory, where they lie by lines: 64 numbers of one K in 128 bytes (tensor_copy.cuh).
#pragma once

#include "tallskinny/gemm/device/wgmma.cuh"

/// What the instruction is told of 16 such lines.
__device__ __forceinline__ uint64 wgmma_lines(const unsigned char* box) {
  constexpr uint64 eight_lines = 1024 / 16, exchanged_in_lines = 1;
  return (shared_address(box) & 0x3ffff) / 16 | eight_lines << 16 | eight_lines << 32 | exchanged_in_lines << 62;
}

/// Products of 16 lines of two such boxes: 64 columns of the left one times 8 Blocks columns of the right
/// one.
template <int Blocks>
struct WgmmaHalf;
#define TS_WGMMA_HALF(BLOCKS, COLUMNS, LEFT, RIGHT, ADD)                                                          \
  template <>                                                                                                     \
  struct WgmmaHalf<BLOCKS> {                                                                                      \
    static __device__ __forceinline__ void multiply(float (&c)[4 * BLOCKS], uint64 left, uint64 right, int add) { \
      if constexpr (element_type == ts::DType::float16)                                                           \
        TS_WGMMA_OF("f16", BLOCKS, COLUMNS, LEFT, RIGHT, ADD);                                                    \
      else                                                                                                        \
        TS_WGMMA_OF("bf16", BLOCKS, COLUMNS, LEFT, RIGHT, ADD);                                                   \
    }                                                                                                             \
  };
#define TS_WGMMA_OF(TYPE, BLOCKS, COLUMNS, LEFT, RIGHT, ADD)                                                      \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #ADD ", 0; wgmma.mma_async.sync.aligned.m64n" #COLUMNS          \
               "k16.f32." TYPE "." TYPE " {" TS_REGISTERS_##BLOCKS "}, %" #LEFT ", %" #RIGHT ", p, 1, 1, 1, 1; }" \
               : TS_OPERANDS_##BLOCKS                                                                             \
               : "l"(left), "l"(right), "r"(add))
TS_WGMMA_HALF(1, 8, 4, 5, 6)
TS_WGMMA_HALF(2, 16, 8, 9, 10)
TS_WGMMA_HALF(3, 24, 12, 13, 14)
TS_WGMMA_HALF(4, 32, 16, 17, 18)
TS_WGMMA_HALF(5, 40, 20, 21, 22)
TS_WGMMA_HALF(6, 48, 24, 25, 26)
TS_WGMMA_HALF(7, 56, 28, 29, 30)
TS_WGMMA_HALF(8, 64, 32, 33, 34)
#undef TS_WGMMA_OF
#undef TS_WGMMA_HALF
