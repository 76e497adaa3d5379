// Some rows, one after the other, a thread an element: as they are, or, with a shift, (x - shift) scale.
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"

using Score = Choose<policy.wide, double, float>::type;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_gather(ts::cuda::SeedGatherArguments a) {
  const int64 thread = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  if (thread >= a.count * a.d) return;
  const int j = static_cast<int>(thread % a.d);
  double v = value(a.x, a.numbers == nullptr ? thread / a.d : a.numbers[thread / a.d], j);
  if (a.shift != nullptr) v = __dmul_rn(__dsub_rn(v, a.shift[j]), a.scale);
  static_cast<Score*>(a.out)[thread] = static_cast<Score>(v);
}
