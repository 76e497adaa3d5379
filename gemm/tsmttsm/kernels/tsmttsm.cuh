// C = alpha op(A) B + beta C for tall A and B, and C = alpha op(A) A + beta C (policy.gram). See tsmttsm_block.cuh.
#pragma once

#include "tallskinny/gemm/tsmttsm/kernels/tsmttsm_block.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads(), policy.residents)
    tsmttsm(const __grid_constant__ InnerArguments arguments) {
  run_block(arguments);
}
