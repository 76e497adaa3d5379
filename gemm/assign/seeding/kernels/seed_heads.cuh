// Rows in float16 and norms that bound what rounding leaves: v = h + e. A warp takes a row. Sums of float64 lose less
// than 2^-40 of themselves, which rounding up to float32 covers.
#include "tallskinny/gemm/assign/scores/kernels/assign_halves.cuh"
#include "tallskinny/gemm/device/warp.cuh"

constexpr int warps = policy.threads / 32;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_heads(ts::cuda::SeedHeadsArguments a) {
  constexpr double up = 1 + 0x1p-30;
  const int lane = threadIdx.x % 32;
  for (int64 i = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32; i < a.count;
       i += static_cast<int64>(gridDim.x) * warps) {
    double all = 0, head = 0, rest = 0;
    for (int j = lane; j < a.m; j += 32) {
      const float v = j < a.d ? a.rows[i * a.ld + j] : 0;
      const uint32 both = halves(v, 0);
      const double h = lower_half(both), e = static_cast<double>(v) - h;
      static_cast<unsigned short*>(a.heads)[i * a.m + j] = static_cast<unsigned short>(both);
      all += static_cast<double>(v) * v, head += h * h, rest += e * e;
    }
    all = sum_of_warp(all), head = sum_of_warp(head), rest = sum_of_warp(rest);
    if (lane != 0) continue;
    a.norms[i] = {all, __double2float_ru(sqrt(head) * up), __double2float_ru(sqrt(rest) * up)};
    atomicMax(a.largest, __float_as_uint(__double2float_ru(sqrt(all) * up)));
  }
}
