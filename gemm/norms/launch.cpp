#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/device/parts.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/norms/plan.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"

namespace ts::inline v0::detail {

template <class T>
void column_norms(const Context& ctx, DeviceStrided<const T> x, DeviceStrided<real_t<T>> norms) {
  expect_shape("column_norms", "norms", norms, 1, x.cols, "a row with the columns of X");
  if (x.cols == 0) return;
  if (x.rows == 0 && !distributed(ctx)) return scale_output(ctx, real_t<T>{}, norms);
  const Profile::Piece piece(ctx, {Operation::column_norms, dtype_of<T>, x.rows, x.cols, x.cols}, Space::device);
  const RowParts parts = row_parts(ctx, "column_norms", x.rows);
  cuda::GpuProblem problem;
  problem.problem = {Operation::column_norms, dtype_of<T>, x.rows, x.cols, x.cols};
  problem.first = parts.one() ? cuda::form_of(x) : cuda::part_form_of(x);
  problem.determinism = ctx.determinism;
  cuda::plan_for_parts(problem, parts);
  const auto launch = [&](const cuda::PlannedKernel& planned, void* workspace, const cuda::PartsArgument& sums) {
    const auto policy = cuda::policy_of<cuda::ColumnNormsPolicy>(planned.kernel.plan());
    const bool col_major = problem.first.layout == Layout::col_major;
    const index_t n = problem.problem.n;
    planned.kernel.launch_with<cuda::ColumnNormsPolicy>(
        ctx, {x.data, n / policy.fold, col_major || policy.fold > 1 ? policy.line() : x.row_stride,
              col_major ? x.col_stride : policy.tile, static_cast<int>(n % policy.fold), workspace,
              ctx.stream.counters(), norms.data, norms.col_stride, x.rows, x.row_stride, sums});
  };
  const auto planned = x.rows > 0 ? cuda::kept_plan(problem, ctx.stream.device()) : nullptr;
  const std::size_t bytes = planned ? planned->kernel.plan().workspace_bytes : 0;
  if (parts.one()) return launch(*planned, ctx.stream.workspace(bytes), {});
  const cuda::PartSums sums(ctx, parts, x.cols * cuda::numbers_of_a_norm(dtype_of<T>), bytes);
  if (planned)
    launch(*planned, sums.workspace(), sums.argument());
  else
    sums.clear();
  if (!sums.gather()) return;
  cuda::launch_with<cuda::NormsOfPartsPolicy>(
      ctx, cuda::plan_norms_of_parts(dtype_of<T>, x.cols),
      {sums.sums(), sums.size(), sums.count(), x.cols, norms.data, norms.col_stride});
}

#define TS_INSTANTIATE(T) \
  template void column_norms<T>(const Context&, DeviceStrided<const T>, DeviceStrided<real_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
