// Label 0 for listed rows, and how many had another one. A thread a row.
#define TS_TYPE 0
#include "tallskinny/gemm/device/element.cuh"

extern "C" __global__ void __launch_bounds__(256, 2)
    reset_labels(int64 count, const int64* rows, int* labels, uint64* changed) {
  const int64 at = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x;
  if (at >= count || labels[rows[at]] == 0) return;
  labels[rows[at]] = 0;
  atomicAdd(changed, static_cast<uint64>(1));
}
