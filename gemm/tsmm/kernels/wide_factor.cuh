// op(S) as the fragments that tsmm_wide.cuh multiplies by, in the order in which it reads them: for each
// block of 16 scalars of K all blocks of 8 columns. What is beyond p and the policy's q counts as zero.
#pragma once

#include "tallskinny/gemm/tsmm/kernels/wide.cuh"

/// A thread a lane of a fragment.
extern "C" __global__ void __launch_bounds__(policy.threads) wide_factor(const ts::cuda::WideFactorArguments a) {
  const WideFactor s(a.s);
  const int64 e = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x, block = e / 32;
  if (block >= a.k_blocks * column_blocks) return;
  const int lane = static_cast<int>(e % 32), column = column_of(static_cast<int>(block % column_blocks), lane / 4);
  const int64 first = (block / column_blocks * 16 + lane % 4 * 4) / parts;
  Fragment f;
#pragma unroll
  for (int u = 0; u < 4 / parts; ++u)
    set_factor(f, u * parts, first + u < a.p && column < policy.q ? s.at(first + u, column) : Result{});
  store_factor(a.factor, block, lane, f);
}
