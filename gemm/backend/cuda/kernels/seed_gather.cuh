// Some rows in float64, one after the other, a thread an element.
#include "assign_rows.cuh"

extern "C" __global__ void __launch_bounds__(256, 2)
    seed_gather(Rows x, int d, const int64* numbers, int64 count, double* out) {
  const int64 thread = static_cast<int64>(blockIdx.x) * 256 + threadIdx.x;
  if (thread < count * d) out[thread] = value(x, numbers[thread / d], static_cast<int>(thread % d));
}
