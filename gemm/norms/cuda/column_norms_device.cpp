#include "tallskinny/gemm/backend/cuda/scale.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/norms/cuda/column_norms_kernel.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"

namespace ts::detail {

namespace {

struct PlannedNorms : cuda::PlannedKernel {
  PlannedNorms(const cuda::GpuProblem& problem, const cuda::DeviceInfo& device)
      : PlannedKernel(problem, device), shape(cuda::column_norms_shape(problem, device)) {}
  cuda::ColumnNormsShape shape;
};

}  // namespace

template <class T>
void column_norms(const Context& ctx, DeviceStrided<const T> x, DeviceStrided<real_t<T>> norms) {
  expect_shape("column_norms", "norms", norms, 1, x.cols, "a row with the columns of X");
  if (x.cols == 0) return;
  if (x.rows == 0) return scale_output(ctx, real_t<T>{}, norms);
  cuda::GpuProblem problem;
  problem.problem = {Operation::column_norms, dtype_of<T>, x.rows, x.cols, x.cols};
  problem.first = cuda::form_of(x);
  problem.determinism = ctx.determinism;
  const auto planned = cuda::kept_plan<PlannedNorms>(problem, ctx.stream.device());
  const cuda::ColumnNormsShape& s = planned->shape;
  const bool col_major = problem.first.layout == Layout::col_major;
  const index_t line_stride = col_major || s.fold > 1 ? s.fold * s.tile : x.row_stride;
  const index_t tile_stride = col_major ? x.col_stride : s.tile;
  planned->kernel.launch(ctx, x.data, s.lines, line_stride, tile_stride, static_cast<int>(s.rest),
                         ctx.stream.workspace(planned->kernel.plan().workspace_bytes), ctx.stream.counters(),
                         norms.data, norms.col_stride);
}

#define TS_INSTANTIATE(T) \
  template void column_norms<T>(const Context&, DeviceStrided<const T>, DeviceStrided<real_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::detail
