// Element c of line l of an operand becomes the value of key seed + l line_step + c step.
#include "tallskinny/app/tsbench/kernels/bench_value.cuh"

extern "C" __global__ void __launch_bounds__(256, 4)
    bench_fill(Element* a, int64 lines, int64 length, int64 ld, uint64 seed, uint64 line_step, uint64 step) {
  const int64 count = lines * length, stride = static_cast<int64>(gridDim.x) * 256;
  for (int64 e = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x; e < count; e += stride) {
    const int64 l = e / length, c = e - l * length;
    a[l * ld + c] =
        Value<Element>::at(seed + static_cast<uint64>(l) * line_step + static_cast<uint64>(c) * step);
  }
}
