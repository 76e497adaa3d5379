// Counts the rows for which some centroid is closer than that of their label by more than rounding explains; a
// warp takes a row.
#include "tallskinny/solvers/kmeans/pass/resolver/kernels/assign_exact.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    assign_verify(ts::cuda::VerifyArguments a) {
  const auto& [x, c, labels, wrong] = a;
  const int lane = threadIdx.x % 32;
  uint64 found = 0;
  for (int64 i = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32; i < x.count;
       i += static_cast<int64>(gridDim.x) * warps) {
    const int label = labels[i];
    bool closer = label < 0 || label >= c.count;
    if (!closer) {
      const double own = distance(c, x, i, label);
      const double limit = __dsub_rn(own, __dmul_rn(__dmul_rn(c.cols + 3, 0x1p-51), own));
      for (int m = lane; m < c.count && !closer; m += 32) closer = distance(c, x, i, m) < limit;
    }
    found += __any_sync(everyone, closer);
  }
  if (lane == 0 && found != 0) atomicAdd(wrong, found);
}
