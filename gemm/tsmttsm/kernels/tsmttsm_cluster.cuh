// C = alpha op(A) B + beta C for tall A and B, and C = alpha op(A) A + beta C (policy.gram). As tsmttsm.cuh where
// few rows make the way of the sums count: from sm_90 on blocks form clusters.
#pragma once

#include "tallskinny/gemm/tsmttsm/kernels/tsmttsm_block.cuh"

extern "C" __global__ void
#if __CUDA_ARCH__ >= 900
__cluster_dims__(policy.cluster, 1, 1)
#endif
    __launch_bounds__(policy.threads(), policy.residents)
        tsmttsm_cluster(const __grid_constant__ InnerArguments arguments) {
  run_block(arguments);
}
