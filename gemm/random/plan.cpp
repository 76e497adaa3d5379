#include "tallskinny/gemm/random/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"

namespace ts::cuda {

KernelPlan plan_random_fill(DType type, const Form& form, index_t lines, index_t width,
                            const DeviceInfo& device) {
  const Piece piece = widest_piece(size_of(type), form, width);
  KernelPlan plan;
  plan.family = "random_fill";
  plan.defines = {define(type), define("TS_VECTOR", piece.count), define("TS_ALIGN", piece.alignment)};
  plan.grid = grid_of(ceil_div(lines * (width / piece.count), 256), index_t{8} * device.multiprocessors);
  plan.block = 256;
  plan.budget = {64, 0};
  return plan;
}

}  // namespace ts::cuda
