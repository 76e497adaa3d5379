// Moves of centroids since the pass before, rounded up; a warp takes a centroid.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/gemm/device/warp.cuh"

constexpr int warps = policy.threads / 32;
constexpr float never = 1e30f, unknown = 3e38f;

extern "C" __global__ void __launch_bounds__(policy.threads, policy.blocks_at_once)
    bounds_moves(ts::cuda::BoundsMovesArguments a) {
  const int m = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (m >= a.count) return;
  double squared = 0;
  for (int64 j = static_cast<int64>(m) * a.d + lane; j < static_cast<int64>(m + 1) * a.d; j += 32) {
    const double c = a.centroids[j], step = a.first ? 0 : (c - a.before[j]) * a.scale;
    squared += step * step;
    a.before[j] = c;
  }
  squared = sum_of_warp(squared);
  if (lane != 0) return;
  // A copy of another centroid had no scores; when it is one no more, its bounds are those of no pass.
  const bool copy = !(a.half_norms[m] < never), was_copy = !a.first && a.moves[m] > unknown;
  const float move = __double2float_ru(sqrt(squared) * (1 + 0x1p-30));
  a.moves[m] = copy ? __uint_as_float(0x7f800000) : was_copy ? unknown : move;
}
