// The columns by which projection_tiles.cuh decides about rows, in an order in which those of a cluster lie together:
//   1 1 1 t1 t2 t3 a b c   (float16 parts of the limit, and norms rounded up; all of it times `per`)
// A warp takes 32 rows: all lanes a row, whose own score is computed from all its columns; then each lane its own.
//
// Of a row v = Q h + Q e + t and a centroid c = Q k + Q f + u (projections h, k as they are kept, what rounding leaves
// of them, and residuals orthogonal to Q):
//   |v c - h k| = |h f + e (k + f) + t u| <= ||h|| ||f|| + ||e|| (||k|| + ||f||) + ||t|| ||u||
// so that ||c||^2 / 2 - h k - (that), which is what tensor instructions compute, is at most the score of c. No score
// below the limit is missed: the limit is beyond the own score by all that is lost. The own score is summed in 32
// chains of multiply-adds of float32 and of centroids in float16, whose loss bound_of_parts() tells more than once; an
// instruction truncates 17 terms and their sum (assign_bounds.cuh), none larger than 4 (||v|| + C) C. Where the limit
// is too large for float16, signs are made negative for all centroids: by b = 2 ||h||, for B >= ||k||, and no origin.
#include "tallskinny/solvers/kmeans/pass/filter/kernels/projection_norms.cuh"
#include "tallskinny/solvers/kmeans/pass/rows/kernels/assign_rows.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_bounds.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_load.cuh"

constexpr unsigned everyone = 0xffffffffu;
constexpr int warps = policy.threads / 32, vector = policy.vector, at_once = 2;
using Halves = Vector<Half, vector, (vector * 2 < 16 ? vector * 2 : 16)>;

/// A lane's part of the products of rows and their centroids.
__device__ __forceinline__ void add_products(float (&sum)[at_once], const Element* const (&from)[at_once],
                                             const Half* const (&with)[at_once], const float* shifts, float scale) {
  const int lane = threadIdx.x % 32;
#pragma unroll(vector > 4 ? 1 : 2)
  for (int j = lane * vector; j < policy.d; j += 32 * vector) {
    Piece x[at_once];
    Halves c[at_once];
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      x[u] = *reinterpret_cast<const Piece*>(from[u] + j), c[u] = *reinterpret_cast<const Halves*>(with[u] + j);
#pragma unroll
    for (int u = 0; u < at_once; ++u)
#pragma unroll
      for (int e = 0; e < vector; ++e)
        sum[u] = __fmaf_rn(centred(x[u].part[e], shifts[j + e], scale), widen(c[u].part[e]), sum[u]);
  }
}

/// The least difference of scores at which a centroid is farther than the row's own by this margin. With
/// s = (||x - c||^2 - ||x||^2) / 2,
///   ||x - c'|| > ||x - c|| + r  <=>  s' - s > r ||x - c|| + r^2 / 2,   ||x - c||^2 = 2 s + ||x||^2
/// where s is at most own + error, and ||x|| at most norm.
__device__ __forceinline__ float margin_of_scores(float margin, float own, float error, float norm) {
  const float squared = norm * norm;
  const float own_squared = 2 * (own + error) + squared + 0x1p-20f * (squared + fabsf(own) + error);
  float own_distance;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(own_distance) : "f"(fmaxf(own_squared, 0.0f)));
  return margin * (own_distance + margin / 2) * (1 + 0x1p-16f);
}

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    projection_limits(ts::cuda::ProjectionLimitsArguments a) {
  __shared__ float shifts[(policy.d + 15) / 16 * 16];
  for (int j = threadIdx.x; j < policy.d; j += policy.threads) shifts[j] = shift_of(a.shift[j], a.scale);
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const float scale = static_cast<float>(a.scale);
  const Bound bound = bound_of_parts(*a.largest, policy.d, 1, policy.steps, 1);
  const float most = a.largest->norm;
  if (blockIdx.x == 0 && threadIdx.x == 0) *a.listed = static_cast<uint64>(a.x.count);
  for (int64 first = 32 * (static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32); first < a.x.count;
       first += 32 * static_cast<int64>(gridDim.x) * warps) {
    const int64 position = first + lane;
    const bool real = position < a.x.count;
    const int row = real ? static_cast<int>(a.order[position]) : 0, label = real ? a.labels[row] : 0;
    float own = 0;
#pragma unroll 1
    for (int r = 0; r < 32 && first + r < a.x.count; r += at_once) {
      float sum[at_once] = {};
      const Element* from[at_once];
      const Half* with[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        from[u] = row_of(a.x, __shfl_sync(everyone, row, r + u));
        with[u] = static_cast<const Half*>(a.by_rows) +
                  static_cast<int64>(__shfl_sync(everyone, label, r + u)) * 16 * policy.steps;
      }
      add_products(sum, from, with, shifts, scale);
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
#pragma unroll
        for (int step = 16; step > 0; step /= 2) sum[u] += __shfl_xor_sync(everyone, sum[u], step);
        if (lane == r + u) own = sum[u];
      }
    }
    if (!real) continue;
    const ts::cuda::ProjectionNorms norms = a.norms[row];
    const float error =
        __fmaf_rn(static_cast<float>(80 * (policy.float_steps + 1)) * 0x1p-23f * most, norms.all + most, 0x1p-22f);
    const float score = a.half_norms[label] + own, within = __fmaf_rn(bound.by_norm, norms.all, bound.constant);
    const float lost = within + 3 * error;
    const float farther = a.margin > 0 ? margin_of_scores(a.margin, score, lost, norms.all) : 0;
    const float beyond = (score + (lost + farther)) * norms.per;
    const bool tells = beyond < 60000;
    const float limit = tells ? beyond : 65504.0f, one = tells ? norms.per : 0;
    const uint32 upper = halves(one, limit), middle = halves(limit - upper_half(upper), 0);
    const uint32 lower = halves(limit - upper_half(upper) - lower_half(middle), 0);
    auto* const to = static_cast<uint4*>(a.limits) + 2 * position;
    const float rounding = tells ? norms.rounding : 2 * norms.projection;
    to[0] = {halves(one, one), upper, (middle & 0xffff) | lower << 16,
             static_cast<uint32>(half_up(norms.projection)) | static_cast<uint32>(half_up(rounding)) << 16};
    to[1] = {static_cast<uint32>(half_up(norms.residual)), 0, 0, 0};
    a.list[position] = row;
  }
}
