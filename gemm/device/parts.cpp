#include "tallskinny/gemm/device/parts.hpp"

#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/policy.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::inline v0::cuda {

KernelPlan plan_sum_parts(DType type, index_t results, bool of_results) {
  const SumPartsPolicy policy{type, of_results};
  KernelPlan plan = plan_of("sum_parts", policy);
  plan.overlaps = true;
  plan.grid = grid_of(ceil_div(results, policy.threads), INT32_MAX);
  plan.block = policy.threads;
  plan.budget = {128, 0};
  return plan;
}

void plan_for_parts(GpuProblem& problem, const RowParts& parts) noexcept {
  if (parts.one()) return;
  problem.parts = parts.here;
  problem.problem.n = parts.part_rows;
}

PartSums::PartSums(const Context& ctx, const RowParts& parts, index_t size, std::size_t bytes)
    : ctx_(ctx), parts_(parts), size_(size) {
  const std::size_t all = static_cast<std::size_t>((parts.count * size + 31) / 32 * 32) * sizeof(double);
  auto* const memory = static_cast<std::byte*>(ctx.stream.workspace(all + bytes));
  sums_ = reinterpret_cast<double*>(memory), workspace_ = memory + all;
}

void PartSums::clear() const {
  fill_bytes(ctx_.stream, argument().sums, 0, static_cast<std::size_t>(parts_.here * size_) * sizeof(double));
}

template <class R>
void PartSums::finish(index_t first, index_t imaginary, Op op, R alpha, R beta, DeviceStrided<R> out, R* mirror,
                      bool triangle) const {
  if (out.empty()) return;
  launch_with<SumPartsPolicy, R>(
      ctx_, plan_sum_parts(dtype_of<R>, out.rows * out.cols),
      {sums_ + first, size_, parts_.count, imaginary, out.data, out.row_stride, out.col_stride, mirror, out.rows,
       out.cols, scalars_of(alpha), scalars_of(beta), static_cast<int>(op == Op::adjoint), static_cast<int>(triangle)});
}

template <class R>
void add_parts_of_results(const Context& ctx, std::span<const R> parts, Op op, R alpha, R beta, DeviceStrided<R> out,
                          R* mirror, bool triangle) {
  if (out.empty()) return;
  const index_t size = out.rows * out.cols, count = static_cast<index_t>(parts.size()) / size;
  launch_with<SumPartsPolicy, R>(
      ctx, plan_sum_parts(dtype_of<R>, size, true),
      {parts.data(), size, count, 0, out.data, out.row_stride, out.col_stride, mirror, out.rows, out.cols,
       scalars_of(alpha), scalars_of(beta), static_cast<int>(op == Op::adjoint), static_cast<int>(triangle)});
}

#define TS_INSTANTIATE(R) \
  template void PartSums::finish<R>(index_t, index_t, Op, R, R, DeviceStrided<R>, R*, bool) const;
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, add_parts_of_results)

}  // namespace ts::inline v0::cuda
