// Y = alpha (op(A) + diagonal I) X + beta Y, op(A) in compressed sparse rows: a group of lanes a row.
#include "tallskinny/gemm/spmm/kernels/whole_row.cuh"

extern "C" __global__ void __launch_bounds__(threads, policy.blocks) spmm_rows(const __grid_constant__ Arguments a) {
  multiply_row(a, static_cast<int64>(blockIdx.x) * groups_a_block + threadIdx.x / group);
}
