// op(S) as the fragments that tsmm_wide.cuh multiplies by, in the order in which it reads them: for each
// block of 16 scalars of K all blocks of 8 columns. What is beyond p and TS_Q counts as zero.
//
//   TS_TYPE, TS_CORE, TS_Q, TS_COLUMN_WARPS, TS_COLUMNS_Y   as there
//   TS_NARROW_S: S is of the type of X, not of the result's
#pragma once

#include "tallskinny/gemm/tsmm/kernels/wide.cuh"

/// A thread a lane of a fragment.
extern "C" __global__ void __launch_bounds__(256)
    wide_factor(WideFactor s, int64 p, int64 k_blocks, unsigned char* factor) {
  const int64 e = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x, block = e / 32;
  if (block >= k_blocks * column_blocks) return;
  const int lane = static_cast<int>(e % 32),
            column = column_of(static_cast<int>(block % column_blocks), lane / 4);
  const int64 first = (block / column_blocks * 16 + lane % 4 * 4) / parts;
  Fragment f;
#pragma unroll
  for (int u = 0; u < 4 / parts; ++u)
    set_factor(f, u * parts, first + u < p && column < TS_Q ? s.at(first + u, column) : Result{});
  store_factor(factor, block, lane, f);
}
