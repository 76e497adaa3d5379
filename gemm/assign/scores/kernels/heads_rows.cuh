// The heads of rows: h = Q^T (x - shift) scale in float16, of which float32 numbers are there, or in integers of 8
// bits, `per` times as large, and norms that bound what heads leave of rows. A warp takes a row.
//
// With v = (x - shift) scale, and y = Q^T v as the numbers tell it, every element of which is wrong by at most
// e = error (||x|| + ||shift||) scale: ||Q^T v - h|| <= ||y - h|| + sqrt(m) e, and the tail v - Q Q^T v has
//   ||tail||^2 = ||v||^2 - ||Q^T v||^2 <= ||v||^2 - max(0, ||y|| - sqrt(m) e)^2.
// Sums of squares of d float32 numbers in 32 chains lose less than (d / 32 + 16) 2^-23 of themselves. An integer is off
// by at most what it is the rounding of, so that ||h|| <= 2 ||y||.
#include "tallskinny/gemm/assign/rows/kernels/assign_rows.cuh"
#include "tallskinny/gemm/assign/scores/kernels/assign_halves.cuh"
#include "tallskinny/gemm/assign/scores/kernels/heads_norms.cuh"
#include "tallskinny/gemm/device/warp.cuh"

constexpr int warps = policy.threads / 32;
constexpr bool int8 = policy.numbers == ts::HeadNumbers::int8;

/// Leaves a number of a head, and returns it.
__device__ __forceinline__ float leave(void* heads, int64 at, float y) {
  if constexpr (int8) {
    const int whole = __float2int_rn(y);
    static_cast<signed char*>(heads)[at] = static_cast<signed char>(whole);
    return static_cast<float>(whole);
  } else {
    const uint32 both = halves(y, 0);
    static_cast<unsigned short*>(heads)[at] = static_cast<unsigned short>(both);
    return lower_half(both);
  }
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    heads_rows(ts::cuda::HeadsRowsArguments a) {
  const int lane = threadIdx.x % 32;
  const float scale = static_cast<float>(a.scale), loss = static_cast<float>(a.d / 32 + 32) * 0x1p-23f;
  for (int64 i = static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32; i < a.x.count;
       i += static_cast<int64>(gridDim.x) * warps) {
    const Element* const from = row_of(a.x, i);
    float all = 0, unmoved = 0;
    for (int j = lane; j < a.d; j += 32) {
      const double x = widen(from[j]);
      const float v = static_cast<float>((x - a.shift[j]) * a.scale), u = static_cast<float>(x * a.scale);
      all = __fmaf_rn(v, v, all), unmoved = __fmaf_rn(u, u, unmoved);
    }
    all = sum_of_warp(all), unmoved = sum_of_warp(unmoved);
    const auto turned_at = [&](int j) { return __fmaf_rn(a.turned[i * a.m + j], scale, -a.moved_shift[j]); };
    float per = 1;
    if constexpr (int8) {
      float most = 0;
      for (int j = lane; j < a.m; j += 32) most = fmaxf(most, fabsf(turned_at(j)));
      per = per_of(largest_of_warp(most), sqrtf(all));
    }
    float turned = 0, head = 0, rest = 0;
    for (int j = lane; j < a.m; j += 32) {
      const float y = turned_at(j), h = leave(a.heads, i * a.m + j, y * per), e = __fmaf_rn(y, per, -h);
      turned = __fmaf_rn(y, y, turned), head = __fmaf_rn(h, h, head), rest = __fmaf_rn(e, e, rest);
    }
    turned = sum_of_warp(turned), head = sum_of_warp(head), rest = sum_of_warp(rest);
    if (lane != 0) continue;
    const float up = 1 + loss,
                error = sqrtf(static_cast<float>(a.m)) * a.error * (sqrtf(unmoved) + a.shift_norm) * up + 0x1p-100f;
    const float axes = fmaxf(sqrtf(turned) * (1 - loss) - error, 0.0f), norm = sqrtf(all) * up;
    const float tail = fmaxf(norm * norm * up - axes * axes, 0.0f);
    a.norms[i] = {sqrtf(head) * up, (sqrtf(rest) + error * per) * up, sqrtf(tail) * per * up, norm, per};
  }
}
