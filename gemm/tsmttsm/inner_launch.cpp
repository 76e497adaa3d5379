#include "tallskinny/gemm/tsmttsm/inner_launch.hpp"

#include "tallskinny/gemm/device/convert.hpp"
#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/parts.hpp"
#include "tallskinny/gemm/device/scalars.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/runtime/gpu/tensor_map.hpp"
#include "tallskinny/gemm/tsmttsm/inner_half.hpp"
#include "tallskinny/gemm/tsmttsm/plan.hpp"

namespace ts::detail {

namespace {

struct PlannedInner : cuda::PlannedKernel {
  PlannedInner(const cuda::GpuProblem& problem, const cuda::DeviceInfo& device)
      : PlannedKernel(problem, device, {"tsmttsm"}),
        panel_blocks(static_cast<int>(kernel.plan().grid / std::max<index_t>(1, problem.parts) /
                                      cuda::inner_panels(problem, kernel.plan()))),
        group_size(cuda::group_size_of(panel_blocks)) {}
  int panel_blocks, group_size;
};

/// Whether a column-major B of TSM2R is turned into rows first: beside panels of rows its columns make lanes
/// meet in banks. As measured on an H100; float64 is bound by memory either way.
template <class T>
bool turns(Operation operation, const DeviceStrided<const T>& a, const DeviceStrided<const T>& b) {
  constexpr index_t large = 4096;
  return operation == Operation::tsm2r && scalar_bytes(dtype_of<T>) < 8 && a.rows >= large && a.cols >= large &&
         cuda::form_of(a).layout == Layout::row_major && cuda::form_of(b).layout == Layout::col_major && b.cols > 1;
}

}  // namespace

template <class T>
void launch_inner(const Context& ctx, Operation operation, Op op, result_t<T> alpha, DeviceStrided<const T> a,
                  DeviceStrided<const T> b, result_t<T> beta, DeviceStrided<result_t<T>> c, result_t<T>* mirror) {
  using cuda::OperandArgument;
  cuda::GpuProblem problem;
  problem.problem = {operation, dtype_of<T>, a.rows, a.cols, b.cols};
  problem.first = cuda::form_of(a);
  if (operation == Operation::tsm2r) {  // planned as D, which is the transpose of A
    problem.problem.n = a.cols, problem.problem.p = a.rows;
    problem.first = cuda::form_of(a.transposed());
  }
  const bool turned = turns(operation, a, b);
  problem.op = op, problem.out = cuda::form_of(c);
  if (!turned) problem.second = cuda::form_of(b);
  problem.determinism = ctx.determinism;
  const auto planned_for = [&] { return cuda::kept_plan<PlannedInner>(problem, ctx.stream.device()); };
  const auto launch = [&](const PlannedInner& planned, void* workspace, const cuda::PartsArgument& sums) {
    planned.kernel.launch(ctx, OperandArgument{a.data, a.row_stride, a.col_stride},
                          OperandArgument{b.data, b.row_stride, b.col_stride}, a.rows, a.cols, c.data, c.row_stride,
                          c.col_stride, mirror, cuda::scalars_of(alpha), cuda::scalars_of(beta),
                          static_cast<int>(op == Op::adjoint), planned.panel_blocks, planned.group_size, workspace,
                          ctx.stream.mailboxes(), ctx.stream.counters(), sums);
  };
  const RowParts parts = operation == Operation::tsm2r
                             ? whole_rows(a.rows)
                             : row_parts(ctx, operation == Operation::gram ? "gram" : "tsmttsm", a.rows);
  if (parts.one()) {
    const auto planned = planned_for();
    if (planned->kernel.plan().family == "tsmttsm_half") {
      // (A transpose is its own adjoint, and no Gram matrix has a mirror here.)
      const auto map_of = [&](const DeviceStrided<const T>& x) {
        if (ctx.stream.rehearsal() != nullptr) return cuda::TensorMap{};
        return cuda::tensor_map_of(ctx.stream.device().index, x.data, scalar_bytes(dtype_of<T>), x.rows, x.cols,
                                   x.row_stride * static_cast<index_t>(sizeof(T)), cuda::half_chunk_rows);
      };
      return planned->kernel.launch(ctx, map_of(a), map_of(b), a.rows, a.cols, c.data, c.row_stride, c.col_stride,
                                    mirror, cuda::scalars_of(alpha), cuda::scalars_of(beta), planned->panel_blocks,
                                    planned->group_size, ctx.stream.workspace(planned->kernel.plan().workspace_bytes),
                                    ctx.stream.counters());
    }
    const std::size_t own_bytes = (planned->kernel.plan().workspace_bytes + 255) / 256 * 256;
    auto* const workspace = static_cast<std::byte*>(
        ctx.stream.workspace(own_bytes + (turned ? static_cast<std::size_t>(b.rows * b.cols) * sizeof(T) : 0)));
    if (turned) {
      const DeviceStrided<T> rows{reinterpret_cast<T*>(workspace + own_bytes), b.rows, b.cols, b.cols, 1};
      convert<T>(ctx, b, rows);
      b = rows;
    }
    return launch(*planned, workspace, {});
  }
  problem.first = cuda::part_form_of(a), problem.second = cuda::part_form_of(b), problem.out = {};
  cuda::plan_for_parts(problem, parts);
  const index_t results = a.cols * b.cols, size = results * parts_of(dtype_of<T>);
  const auto planned = a.rows > 0 ? planned_for() : nullptr;
  const cuda::PartSums sums(ctx, parts, size, planned ? planned->kernel.plan().workspace_bytes : 0);
  if (planned)
    launch(*planned, sums.workspace(), sums.argument());
  else
    sums.clear();
  if (sums.gather()) sums.finish(0, results, op, alpha, beta, c, mirror);
}

#define TS_INSTANTIATE(T)                                                                           \
  template void launch_inner<T>(const Context&, Operation, Op, result_t<T>, DeviceStrided<const T>, \
                                DeviceStrided<const T>, result_t<T>, DeviceStrided<result_t<T>>, result_t<T>*);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::detail
