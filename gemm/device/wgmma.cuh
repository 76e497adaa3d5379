// Tensor instructions of a whole warpgroup (sm_90a): c = left right (+ c) for 64 x TS_COLUMNS x 8 of TF32, left from
// registers and right from shared memory. They go on while the warps do other things.
//
// Right lies by K: 16 bytes hold four K of a column, columns follow one another, and then the next four K.
#pragma once

#include "tallskinny/gemm/device/pipeline.cuh"

/// What the instruction is told of `columns` x 8 numbers at `from`.
__device__ __forceinline__ uint64 wgmma_descriptor(const unsigned char* from, int columns) {
  constexpr uint64 eight_columns = 128 / 16;
  return (shared_address(from) & 0x3ffff) / 16 | static_cast<uint64>(columns) << 16 | eight_columns << 32;
}
/// Before the first instruction that reads registers that were written.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits for all that was committed.
__device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

/// Blocks of 8 columns, with right times Sign: 1 or -1 (CUDA 13.0 miscompiles a sign of left).
/// c holds (g, 2t), (g, 2t + 1),
/// (g + 8, 2t), (g + 8, 2t + 1) of each, for rows of the warp's 16.
template <int Blocks>
struct Wgmma;
// The assembler wants every register named.
#define TS_REGISTERS_1 "%0, %1, %2, %3"
#define TS_OPERANDS_1 "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
#define TS_REGISTERS_2 TS_REGISTERS_1 ", %4, %5, %6, %7"
#define TS_OPERANDS_2 TS_OPERANDS_1, "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
#define TS_REGISTERS_3 TS_REGISTERS_2 ", %8, %9, %10, %11"
#define TS_OPERANDS_3 TS_OPERANDS_2, "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11])
#define TS_REGISTERS_4 TS_REGISTERS_3 ", %12, %13, %14, %15"
#define TS_OPERANDS_4 TS_OPERANDS_3, "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15])
#define TS_REGISTERS_5 TS_REGISTERS_4 ", %16, %17, %18, %19"
#define TS_OPERANDS_5 TS_OPERANDS_4, "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19])
#define TS_REGISTERS_6 TS_REGISTERS_5 ", %20, %21, %22, %23"
#define TS_OPERANDS_6 TS_OPERANDS_5, "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23])
#define TS_REGISTERS_7 TS_REGISTERS_6 ", %24, %25, %26, %27"
#define TS_OPERANDS_7 TS_OPERANDS_6, "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27])
#define TS_REGISTERS_8 TS_REGISTERS_7 ", %28, %29, %30, %31"
#define TS_OPERANDS_8 TS_OPERANDS_7, "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
#define TS_REGISTERS_9 TS_REGISTERS_8 ", %32, %33, %34, %35"
#define TS_OPERANDS_9 TS_OPERANDS_8, "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35])
#define TS_REGISTERS_10 TS_REGISTERS_9 ", %36, %37, %38, %39"
#define TS_OPERANDS_10 TS_OPERANDS_9, "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39])
#define TS_REGISTERS_11 TS_REGISTERS_10 ", %40, %41, %42, %43"
#define TS_OPERANDS_11 TS_OPERANDS_10, "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43])
#define TS_REGISTERS_12 TS_REGISTERS_11 ", %44, %45, %46, %47"
#define TS_OPERANDS_12 TS_OPERANDS_11, "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47])
#define TS_REGISTERS_13 TS_REGISTERS_12 ", %48, %49, %50, %51"
#define TS_OPERANDS_13 TS_OPERANDS_12, "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51])
#define TS_REGISTERS_14 TS_REGISTERS_13 ", %52, %53, %54, %55"
#define TS_OPERANDS_14 TS_OPERANDS_13, "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55])
#define TS_REGISTERS_15 TS_REGISTERS_14 ", %56, %57, %58, %59"
#define TS_OPERANDS_15 TS_OPERANDS_14, "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59])
#define TS_REGISTERS_16 TS_REGISTERS_15 ", %60, %61, %62, %63"
#define TS_OPERANDS_16 TS_OPERANDS_15, "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])

#define TS_WGMMA(BLOCKS, COLUMNS, A0, A1, A2, A3, RIGHT, ADD, SIGN)                                                   \
  template <>                                                                                                         \
  struct Wgmma<BLOCKS> {                                                                                              \
    template <int Sign = 1>                                                                                           \
    static __device__ __forceinline__ void multiply(float (&c)[4 * BLOCKS], const uint32 (&a)[4], uint64 right,       \
                                                    int add) {                                                        \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #ADD ", 0; wgmma.mma_async.sync.aligned.m64n" #COLUMNS          \
                   "k8.f32.tf32.tf32 {" TS_REGISTERS_##BLOCKS "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #RIGHT \
                                                              ", p, 1, %" #SIGN "; }"                                 \
                   : TS_OPERANDS_##BLOCKS                                                                             \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(right), "r"(add), "n"(Sign));                    \
    }                                                                                                                 \
  };
TS_WGMMA(1, 8, 4, 5, 6, 7, 8, 9, 10)
TS_WGMMA(2, 16, 8, 9, 10, 11, 12, 13, 14)
TS_WGMMA(3, 24, 12, 13, 14, 15, 16, 17, 18)
TS_WGMMA(4, 32, 16, 17, 18, 19, 20, 21, 22)
TS_WGMMA(5, 40, 20, 21, 22, 23, 24, 25, 26)
TS_WGMMA(6, 48, 24, 25, 26, 27, 28, 29, 30)
TS_WGMMA(7, 56, 28, 29, 30, 31, 32, 33, 34)
TS_WGMMA(8, 64, 32, 33, 34, 35, 36, 37, 38)
TS_WGMMA(9, 72, 36, 37, 38, 39, 40, 41, 42)
TS_WGMMA(10, 80, 40, 41, 42, 43, 44, 45, 46)
TS_WGMMA(11, 88, 44, 45, 46, 47, 48, 49, 50)
TS_WGMMA(12, 96, 48, 49, 50, 51, 52, 53, 54)
TS_WGMMA(13, 104, 52, 53, 54, 55, 56, 57, 58)
TS_WGMMA(14, 112, 56, 57, 58, 59, 60, 61, 62)
TS_WGMMA(15, 120, 60, 61, 62, 63, 64, 65, 66)
TS_WGMMA(16, 128, 64, 65, 66, 67, 68, 69, 70)
#undef TS_WGMMA
