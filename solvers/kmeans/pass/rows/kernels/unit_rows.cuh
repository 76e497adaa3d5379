// Rows divided by their norms, a thread each: sums in the order of columns, as the host adds them
// (pass/rows/unit_rows.cpp).
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    unit_rows(ts::cuda::UnitRowsArguments a) {
  const auto& [x, d, least_norm, unit, scales] = a;
  const int64 i = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  if (i >= x.count) return;
  double largest = 0, sum = 0;
#pragma unroll 4
  for (int j = 0; j < d; ++j) largest = fmax(largest, fabs(value(x, i, j)));
  if (largest > 0)
#pragma unroll 4
    for (int j = 0; j < d; ++j) {
      const double part = __ddiv_rn(value(x, i, j), largest);
      sum = __dadd_rn(sum, __dmul_rn(part, part));
    }
  const double norm = __dmul_rn(largest, __dsqrt_rn(sum));
  const double scale = norm >= least_norm && isfinite(norm) ? __ddiv_rn(1, norm) : 0;
  scales[i] = scale;
#pragma unroll 4
  for (int j = 0; j < d; ++j) unit[i * d + j] = __dmul_rn(value(x, i, j), scale);
}
