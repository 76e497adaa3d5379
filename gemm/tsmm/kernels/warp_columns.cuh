// Which columns of Y = alpha X op(S) + beta Y a warp computes, and in which order: permuted so that a lane
// ends up with neighbouring results.
#pragma once

#include "tallskinny/gemm/device/element.cuh"

constexpr int column_blocks = (policy.q + 7) / 8;
constexpr int blocks_of_warp = (column_blocks + policy.column_warps - 1) / policy.column_warps;

/// Blocks whose columns are dealt out to the lanes in turns, so that a lane has up to 32 bytes of a row of Y.
constexpr int dealt_wanted = policy.columns_y ? 1 : sizeof(Result) >= 16 ? 1 : sizeof(Result) == 8 ? 2 : 4;
constexpr int dealt = column_blocks % policy.column_warps != 0       ? 1
                      : blocks_of_warp % dealt_wanted == 0           ? dealt_wanted
                      : dealt_wanted == 4 && blocks_of_warp % 2 == 0 ? 2
                                                                     : 1;
/// The column of Y in place n of a block.
__device__ __forceinline__ int column_of(int block, int n) {
  return block / dealt * (8 * dealt) + n / 2 * (2 * dealt) + block % dealt * 2 + n % 2;
}
