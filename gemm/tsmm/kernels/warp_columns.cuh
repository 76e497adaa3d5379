// Which columns of Y = alpha X op(S) + beta Y a warp computes, and in which order: permuted so that a lane
// ends up with neighbouring results.
//
//   TS_Q; TS_COLUMN_WARPS (that share the columns); TS_COLUMNS_Y: Y lies by columns
#pragma once

#include "tallskinny/gemm/device/element.cuh"

constexpr int column_blocks = (TS_Q + 7) / 8;
constexpr int blocks_of_warp = (column_blocks + TS_COLUMN_WARPS - 1) / TS_COLUMN_WARPS;

/// Blocks whose columns are dealt out to the lanes in turns, so that a lane has up to 32 bytes of a row of Y.
constexpr int dealt_wanted = TS_COLUMNS_Y ? 1 : sizeof(Result) >= 16 ? 1 : sizeof(Result) == 8 ? 2 : 4;
constexpr int dealt = column_blocks % TS_COLUMN_WARPS != 0           ? 1
                      : blocks_of_warp % dealt_wanted == 0           ? dealt_wanted
                      : dealt_wanted == 4 && blocks_of_warp % 2 == 0 ? 2
                                                                     : 1;
/// The column of Y in place n of a block.
__device__ __forceinline__ int column_of(int block, int n) {
  return block / dealt * (8 * dealt) + n / 2 * (2 * dealt) + block % dealt * 2 + n % 2;
}
