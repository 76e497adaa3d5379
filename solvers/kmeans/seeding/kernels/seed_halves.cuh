// Rows v = (x - shift) scale in float16 and norms that bound what rounding leaves: v = h + e. A warp takes a row. Sums
// of float64 lose less than 2^-40 of themselves, which rounding up to float32 covers.
#include "tallskinny/gemm/device/warp.cuh"
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_halves(ts::cuda::SeedBatchArguments a) {
  constexpr double up = 1 + 0x1p-30;
  const int lane = threadIdx.x % 32;
  auto* const halves_out = static_cast<unsigned short*>(a.halves);
  for (int64 i = static_cast<int64>(blockIdx.x) * policy.warps + threadIdx.x / 32; i < a.x.count;
       i += static_cast<int64>(gridDim.x) * policy.warps) {
    double all = 0, rounded = 0, residual = 0;
    for (int j = lane; j < a.columns; j += 32) {
      const double v = j < a.d ? __dmul_rn(__dsub_rn(value(a.x, i, j), a.shift[j]), a.scale) : 0;
      const uint32 both = halves(static_cast<float>(v), 0);
      const double h = lower_half(both), e = v - h;
      if (halves_out != nullptr) halves_out[i * a.columns + j] = static_cast<unsigned short>(both);
      all += v * v, rounded += h * h, residual += e * e;
    }
    all = sum_of_warp(all), rounded = sum_of_warp(rounded), residual = sum_of_warp(residual);
    if (lane != 0) continue;
    if (a.norms != nullptr)
      a.norms[i] = {all, __double2float_ru(sqrt(rounded) * up), __double2float_ru(sqrt(residual) * up)};
    atomicMax(a.largest, __float_as_uint(__double2float_ru(sqrt(all) * up)));
  }
}
