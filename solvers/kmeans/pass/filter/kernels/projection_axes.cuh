// Axes rounded to float16, once as float64 numbers, and once in the layout of projection_rows.cuh: stage by stage of 64
// columns of rows, axis by axis, zeros behind the last. Axes are in the order in which a lane has products of numbers
// that lie side by side in a projection: of a warp's axes lane t of four has those of columns 2t and 2t + 1 of each
// block of eight, which are 2b and 2b + 1 of its own.
#include "tallskinny/gemm/device/element.cuh"
#include "tallskinny/solvers/kmeans/pass/scorer/kernels/assign_halves.cuh"

constexpr int columns = policy.columns, of_warp = columns / policy.column_warps(), blocks_of_8 = of_warp / 8;

extern "C" __global__ void __launch_bounds__(policy.threads) projection_axes(ts::cuda::ProjectionAxesArguments a) {
  const int64 number = static_cast<int64>(blockIdx.x) * policy.threads + threadIdx.x;
  const int line = policy.stage_columns, of_stage = columns * line;
  const int stage = static_cast<int>(number / of_stage), slot = static_cast<int>(number % of_stage / line);
  const int i = stage * line + static_cast<int>(number % line);
  if (stage >= (a.d + line - 1) / line) return;
  const int in_warp = slot % of_warp, block = in_warp / 8, lane = in_warp % 8 / 2;
  const int j = slot / of_warp * of_warp + lane * 2 * blocks_of_8 + 2 * block + in_warp % 2;
  uint32 bits = 0;
  if (i < a.d && j < a.m) {
    const int64 at = static_cast<int64>(i) * a.m + j;
    bits = halves(static_cast<float>(a.axes[at]), 0) & 0xffff;
    a.rounded[at] = a.again[at] = static_cast<double>(lower_half(bits));
  }
  static_cast<unsigned short*>(a.stages)[number] = static_cast<unsigned short>(bits);
}
