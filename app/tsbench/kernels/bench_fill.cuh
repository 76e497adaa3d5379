// Element c of line l of an operand becomes the value of key seed + l line_step + c step.
#include "tallskinny/app/tsbench/kernels/bench_value.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bench_fill(const __grid_constant__ ts::bench::FillArguments in) {
  auto* const a = static_cast<Element*>(in.a);
  const int64 count = in.lines * in.length, stride = static_cast<int64>(gridDim.x) * policy.threads;
  for (int64 e = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x; e < count; e += stride) {
    const int64 l = e / in.length, c = e - l * in.length;
    a[l * in.ld + c] =
        Value<Element>::at(in.seed + static_cast<uint64>(l) * in.line_step + static_cast<uint64>(c) * in.step);
  }
}
