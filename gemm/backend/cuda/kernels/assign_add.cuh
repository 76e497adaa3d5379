// Adds every row with a label to the sums of its cluster; a warp takes 32 rows.
#include "assign_rows.cuh"

constexpr int warps = 8;

extern "C" __global__ void __launch_bounds__(32 * warps, 2) assign_add(Rows x, int d, const int* labels, Sums sums) {
  for (int64 first = (static_cast<int64>(blockIdx.x) * warps + threadIdx.x / 32) * 32; first < x.count;
       first += static_cast<int64>(gridDim.x) * warps * 32) {
    const int64 row = first + threadIdx.x % 32;
    const int label = row < x.count ? labels[row] : -1;
    move_rows(x, d, sums, GlobalSums{sums, d}, row, __ballot_sync(~0u, label >= 0), -1, label);
  }
}
