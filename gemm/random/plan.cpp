#include "tallskinny/gemm/random/plan.hpp"

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/random/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"

namespace ts::inline v0::cuda {

KernelPlan plan_random_fill(DType type, const Form& form, index_t lines, index_t width, const DeviceInfo& device) {
  const Piece piece = widest_piece(size_of(type), form, width);
  const RandomFillPolicy policy{type, piece.count, piece.alignment};
  KernelPlan plan = plan_of("random_fill", policy);
  plan.grid = grid_of(ceil_div(lines * (width / piece.count), policy.threads), index_t{8} * device.multiprocessors);
  plan.block = policy.threads;
  plan.budget = {64, 0};
  return plan;
}

}  // namespace ts::inline v0::cuda
