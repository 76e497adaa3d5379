// The columns by which heads_tiles.cuh finds the rows that candidates are nearer to, a thread a row:
//   1 1 1 t1 t2 t3 a b 0   (float16 parts of the limit t, and norms rounded up)
//
// Of a row v = h + e and a candidate c = k + f (in float16, and what rounding leaves):
//   ||v - c||^2 < D^2  <=>  ||c||^2 / 2 - v c < (D^2 - ||v||^2) / 2
//   |v c - h k| = |h f + e (k + f)| <= ||h|| ||f|| + ||e|| (||k|| + ||f||)
// so that no pair is missed whose ||c||^2 / 2 - h k - (that bound), which is what tensor instructions compute, is below
// the limit. The limit lies higher by what the measured distance and D^2 may lose, each at most d + 16 roundings of
// float32, and by what the instructions lose: each truncates 17 terms and their sum, none larger than 4 (||v|| + C) C,
// where C is the largest norm of all rows, of which candidates are some.
#include "tallskinny/gemm/assign/scores/kernels/assign_halves.cuh"
#include "tallskinny/gemm/assign/scores/kernels/heads_norms.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_limits(ts::cuda::SeedLimitsArguments a) {
  const int64 i = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  if (i >= a.count) return;
  const ts::cuda::SeedNorms norms = a.norms[i];
  const double most = __uint_as_float(*a.largest), norm = sqrt(norms.squared);
  const double error = 80.0 * (a.steps + 1) * 0x1p-23 * most * (norm + most) + 0x1p-22;
  const double apart = static_cast<double>(a.squared[i]) * (1 + (a.d + 16) * 0x1p-22);
  const double beyond = (apart - norms.squared * (1 - 0x1p-40)) / 2 + 3 * error;
  const float limit = beyond < 60000 ? __double2float_ru(beyond) : 65504.0f;
  const uint32 upper = halves(1, limit), middle = halves(limit - upper_half(upper), 0);
  const uint32 lower = halves(limit - upper_half(upper) - lower_half(middle), 0);
  auto* const to = static_cast<uint4*>(a.limits) + 2 * i;
  to[0] = {0x3c003c00u, upper, (middle & 0xffff) | lower << 16,
           static_cast<uint32>(half_up(norms.head)) | static_cast<uint32>(half_up(norms.rest)) << 16};
  to[1] = {0, 0, 0, 0};
}
