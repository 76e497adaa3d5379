// Some rows, one after the other, a thread an element, each filled up with zeros to `ld` elements: as they are,
// or, with a shift, in the coordinates of distances, (x - shift) scale.
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"

using Score = Choose<policy.wide, double, float>::type;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_gather(ts::cuda::SeedGatherArguments a) {
  const auto& [x, d, numbers, count, shift, scale, to, ld] = a;
  Score* const out = static_cast<Score*>(to);
  const int64 thread = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  if (thread >= count * ld) return;
  const int64 at = thread / ld;
  const int j = static_cast<int>(thread % ld);
  double v = 0;
  if (j < d) v = value(x, numbers == nullptr ? at : numbers[at], j);
  if (shift != nullptr && j < d) v = __dmul_rn(__dsub_rn(v, shift[j]), scale);
  out[thread] = static_cast<Score>(v);
}
