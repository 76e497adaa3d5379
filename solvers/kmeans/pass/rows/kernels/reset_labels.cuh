// Label 0 for listed rows, and how many had another one. A thread a row.
#include "tallskinny/gemm/device/element.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    reset_labels(ts::cuda::ResetLabelsArguments a) {
  const auto& [count, rows, labels, changed] = a;
  const int64 at = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  if (at >= count || labels[rows[at]] == 0) return;
  labels[rows[at]] = 0;
  atomicAdd(changed, static_cast<uint64>(1));
}
