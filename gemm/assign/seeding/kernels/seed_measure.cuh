// The squared distances of rows and candidates that seed_pairs.cuh listed, eight lanes a pair, which add theirs in a
// fixed order: 0 for equal rows.
#include "tallskinny/gemm/device/element.cuh"

constexpr int lanes = 8;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    seed_measure(ts::cuda::SeedMeasureArguments a) {
  const int64 total = static_cast<int64>(*a.total), count = total <= a.most ? total : 0;
  const int lane = threadIdx.x % lanes;
  const int64 groups = static_cast<int64>(gridDim.x) * (policy.threads / lanes);
  // Whole warps go on together, since lanes are added.
  for (int64 first = (static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x) / 32 * (32 / lanes); first < count;
       first += groups) {
    const int64 at = first + threadIdx.x % 32 / lanes;
    const bool real = at < count;
    const ts::cuda::SeedPair pair = a.pairs[real ? at : first];
    const float* const x = a.rows + static_cast<int64>(pair.row) * a.ld;
    const float* const c = a.rows + a.numbers[pair.candidate] * a.ld;
    float sum = 0;
#pragma unroll 4
    for (int j = 4 * lane; j < a.ld; j += 4 * lanes) {
      const float4 u = *reinterpret_cast<const float4*>(x + j), v = *reinterpret_cast<const float4*>(c + j);
      sum = __fmaf_rn(u.x - v.x, u.x - v.x, sum), sum = __fmaf_rn(u.y - v.y, u.y - v.y, sum);
      sum = __fmaf_rn(u.z - v.z, u.z - v.z, sum), sum = __fmaf_rn(u.w - v.w, u.w - v.w, sum);
    }
#pragma unroll
    for (int far = lanes / 2; far > 0; far /= 2) sum += __shfl_xor_sync(~0u, sum, far);
    __syncwarp();
    if (real && lane == 0) a.pairs[at].squared = sum;
  }
}
