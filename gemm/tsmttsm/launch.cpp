#include "tallskinny/gemm/tsmttsm/launch.hpp"

#include <algorithm>

#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/device/convert.hpp"
#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/parts.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/library/products.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/tsmttsm/detail.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace ts::inline v0::detail {
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
bool turns(const InnerCall<T>& call) {
  constexpr index_t large = 4096;
  return call.operation == Operation::tsm2r && scalar_bytes(dtype_of<T>) < 8 && call.a.rows >= large &&
         call.a.cols >= large && cuda::form_of(call.a).layout == Layout::row_major &&
         cuda::form_of(call.b).layout == Layout::col_major && call.b.cols > 1;
}

template <class T>
cuda::GpuProblem problem_of(const Context& ctx, const InnerCall<T>& call) {
  const auto& [operation, op, alpha, a, b, beta, c, mirror] = call;
  cuda::GpuProblem problem;
  problem.problem = {operation, dtype_of<T>, a.rows, a.cols, b.cols};
  problem.first = cuda::form_of(a);
  if (operation == Operation::tsm2r) {  // planned as D, which is the transpose of A
    problem.problem.n = a.cols, problem.problem.p = a.rows;
    problem.first = cuda::form_of(a.transposed());
  }
  problem.op = op, problem.out = cuda::form_of(c);
  if (!turns(call)) problem.second = cuda::form_of(b);
  problem.determinism = ctx.determinism;
  return problem;
}

template <class T>
void start(const Context& ctx, const PlannedInner& planned, const InnerCall<T>& call, void* workspace,
           const cuda::PartsArgument& parts) {
  const auto& [operation, op, alpha, a, b, beta, c, mirror] = call;
  const cuda::InnerArguments arguments{{a.data, a.row_stride, a.col_stride},
                                       {b.data, b.row_stride, b.col_stride},
                                       a.rows,
                                       a.cols,
                                       c.data,
                                       c.row_stride,
                                       c.col_stride,
                                       mirror,
                                       cuda::scalars_of(alpha),
                                       cuda::scalars_of(beta),
                                       op == Op::adjoint ? 1 : 0,
                                       planned.panel_blocks,
                                       planned.group_size,
                                       static_cast<double*>(workspace),
                                       ctx.stream.mailboxes(),
                                       ctx.stream.counters(),
                                       parts};
  planned.kernel.template launch_with<cuda::InnerPolicy>(ctx, arguments);
}

/// The rows are one sum.
template <class T>
void launch_whole(const Context& ctx, InnerCall<T> call) {
  const auto planned = cuda::kept_plan<PlannedInner>(problem_of(ctx, call), ctx.stream.device());
  const bool turned = turns(call);
  const DeviceStrided<const T> b = call.b;
  const std::size_t own_bytes = (planned->kernel.plan().workspace_bytes + 255) / 256 * 256;
  auto* const workspace = static_cast<std::byte*>(
      ctx.stream.workspace(own_bytes + (turned ? static_cast<std::size_t>(b.rows * b.cols) * sizeof(T) : 0)));
  if (turned) {
    const DeviceStrided<T> rows{reinterpret_cast<T*>(workspace + own_bytes), b.rows, b.cols, b.cols, 1};
    convert<T>(ctx, b, rows);
    call.b = rows;
  }
  start(ctx, *planned, call, workspace, {});
}

}  // namespace

template <class T>
void launch_inner(const Context& ctx, const InnerCall<T>& call) {
  const auto& [operation, op, alpha, a, b, beta, c, mirror] = call;
  const RowParts parts = operation == Operation::tsm2r
                             ? whole_rows(a.rows)
                             : row_parts(ctx, operation == Operation::gram ? "gram" : "tsmttsm", a.rows);
  if (parts.one()) return launch_whole(ctx, call);
  cuda::GpuProblem problem = problem_of(ctx, call);
  problem.first = cuda::part_form_of(a), problem.second = cuda::part_form_of(b), problem.out = {};
  cuda::plan_for_parts(problem, parts);
  const index_t results = a.cols * b.cols, size = results * parts_of(dtype_of<T>);
  const auto planned = a.rows > 0 ? cuda::kept_plan<PlannedInner>(problem, ctx.stream.device()) : nullptr;
  const cuda::PartSums sums(ctx, parts, size, planned ? planned->kernel.plan().workspace_bytes : 0);
  if (planned)
    start(ctx, *planned, call, sums.workspace(), sums.argument());
  else
    sums.clear();
  if (sums.gather()) sums.finish(0, results, op, alpha, beta, c, mirror);
}

template <class T>
void tsmttsm(const Context& ctx, Op op, result_t<T> alpha, DeviceStrided<const T> a, DeviceStrided<const T> b,
             result_t<T> beta, DeviceStrided<result_t<T>> c) {
  expect_tsmttsm(op, a, b, c);
  if (c.empty()) return;
  if ((a.rows == 0 && !distributed(ctx)) || alpha == result_t<T>{}) return scale_output(ctx, beta, c);
  const Profile::Piece piece(ctx, {Operation::tsmttsm, dtype_of<T>, a.rows, a.cols, b.cols, beta != result_t<T>{}},
                             Space::device);
  const cuda::GpuProblem whole = problem_of<T>(ctx, {Operation::tsmttsm, op, alpha, a, b, beta, c});
  if (cuda::inner_by_library<T>(ctx, whole, op, alpha, a, b, beta, c)) return;
  const index_t width = cuda::inner_width(whole, ctx.stream.device());
  for (index_t j = 0; j < b.cols; j += width) {
    const index_t q = std::min(width, b.cols - j);
    launch_inner<T>(ctx, {Operation::tsmttsm, op, alpha, a, b.block(0, j, b.rows, q), beta, c.block(0, j, c.rows, q)});
  }
}

template <class T>
void gram(const Context& ctx, Op op, result_t<T> alpha, DeviceStrided<const T> a, result_t<T> beta,
          DeviceStrided<result_t<T>> c) {
  expect_gram(op, a, c);
  if (c.empty()) return;
  if ((a.rows == 0 && !distributed(ctx)) || alpha == result_t<T>{}) return scale_output(ctx, beta, c);
  const Profile::Piece piece(ctx, {Operation::gram, dtype_of<T>, a.rows, a.cols, a.cols, beta != result_t<T>{}},
                             Space::device);
  const cuda::GpuProblem all = problem_of<T>(ctx, {Operation::gram, op, alpha, a, a, beta, c});
  if (cuda::inner_by_library<T>(ctx, all, op, alpha, a, a, beta, c)) return;
  const index_t width = cuda::gram_width(all, ctx.stream.device(), distributed(ctx));
  for (index_t i = 0; i < a.cols; i += width)
    for (index_t j = i; j < a.cols; j += width) {
      const index_t p = std::min(width, a.cols - i), q = std::min(width, a.cols - j);
      result_t<T>* const mirror = c.data + j * c.row_stride + i * c.col_stride;
      launch_inner<T>(ctx, {i == j ? Operation::gram : Operation::tsmttsm, op, alpha, a.block(0, i, a.rows, p),
                            a.block(0, j, a.rows, q), beta, c.block(i, j, p, q), i == j ? nullptr : mirror});
    }
}

#define TS_INSTANTIATE(T)                                                                                   \
  template void tsmttsm<T>(const Context&, Op, result_t<T>, DeviceStrided<const T>, DeviceStrided<const T>, \
                           result_t<T>, DeviceStrided<result_t<T>>);                                        \
  template void gram<T>(const Context&, Op, result_t<T>, DeviceStrided<const T>, result_t<T>,               \
                        DeviceStrided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_TYPE(TS_FUNCTION, launch_inner)

}  // namespace ts::inline v0::detail
