#include "tallskinny/gemm/device/scale.hpp"

#include <utility>

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::inline v0::cuda {

KernelPlan plan_scale(DType type, const Form& form, index_t lines, index_t width, const DeviceInfo& device) {
  const Piece piece = widest_piece(size_of(type), form, width);
  const index_t across = width / piece.count;
  const index_t blocks = across >= 256 ? ceil_div(across, 256) : ceil_div(lines, 256 / across);
  const ScalePolicy policy{type, piece.count, piece.alignment};
  KernelPlan plan = plan_of("scale", policy);
  plan.grid = grid_of(blocks, index_t{8} * device.multiprocessors);
  plan.block = policy.threads;
  plan.budget = {64, 0};
  return plan;
}

}  // namespace ts::inline v0::cuda

namespace ts::inline v0::detail {

template <class R>
void scale_output(const Context& ctx, R beta, const DeviceStrided<R>& out) {
  if (beta == R{1} || out.empty()) return;
  const cuda::Form form = cuda::form_of(out);
  const bool row_major = form.layout == Layout::row_major;
  index_t lines = row_major ? out.rows : out.cols, width = row_major ? out.cols : out.rows;
  if (form.contiguous) width *= std::exchange(lines, 1);
  const index_t ld = row_major ? out.row_stride : out.col_stride;
  const cuda::KernelPlan plan = cuda::plan_scale(dtype_of<R>, form, lines, width, ctx.stream.device());
  cuda::launch_with<cuda::ScalePolicy, R>(ctx, plan, {out.data, lines, width, ld, beta});
}

#define TS_INSTANTIATE(R) template void scale_output<R>(const Context&, R, const DeviceStrided<R>&);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
