// Copies of boxes of a matrix into shared memory (sm_90 and later): the copy engine is told the matrix once,
// reads what lies outside of it as zeros, and leaves lines of 128 bytes whose 16-byte pieces are exchanged so
// that lanes that read a column of lines meet in few banks.
#pragma once

#include "tallskinny/gemm/device/pipeline.cuh"
#include "tallskinny/gemm/runtime/gpu/tensor_map_policy.hpp"

using ts::cuda::TensorMap;

/// The box that begins at scalar `column` of row `row`, to a multiple of 1024 bytes.
__device__ __forceinline__ void tensor_load(void* to, const TensorMap& map, int column, int row, uint64* barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(barrier))
      : "memory");
#endif
}

/// Byte of 16-byte piece `piece` of line `line` of a box.
__device__ __forceinline__ int exchanged(int line, int piece) { return line * 128 + ((piece ^ (line & 7)) << 4); }
