#include <algorithm>

#include "tallskinny/gemm/backend/cuda/arguments.hpp"
#include "tallskinny/gemm/backend/cuda/device_matrix.hpp"
#include "tallskinny/gemm/backend/cuda/scale.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/tsmm/cuda/tsmm_kernel.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmm/tsmm_detail.hpp"

namespace ts::detail {
namespace {

/// As kernels/tsmm.cuh declares it.
struct Factor {
  const void* data;
  index_t row_stride, column_stride;
  int conjugate;
};
struct ResultArgument {
  void* data;
  index_t row_stride, column_stride;
};

/// One launch; s is op(S) but for conjugation.
template <class T>
void launch_update(const Context& ctx, Operation operation, bool conjugate, result_t<T> alpha,
                   DeviceStrided<const T> x, DeviceStrided<const result_t<T>> s, result_t<T> beta,
                   DeviceStrided<result_t<T>> y) {
  cuda::GpuProblem problem;
  problem.problem = {operation, dtype_of<T>, x.rows, x.cols, s.cols, beta != result_t<T>{}};
  problem.first = cuda::form_of(x), problem.second = cuda::form_of(s), problem.out = cuda::form_of(y);
  problem.determinism = ctx.determinism;
  const auto planned = cuda::kept_plan(problem, ctx.stream.device());
  planned->kernel.launch(ctx, cuda::OperandArgument{x.data, x.row_stride, x.col_stride},
                         Factor{s.data, s.row_stride, s.col_stride, conjugate},
                         ResultArgument{y.data, y.row_stride, y.col_stride}, x.rows, cuda::scalars_of(alpha),
                         cuda::scalars_of(beta), ctx.stream.counters());
}

/// The columns that a kernel takes.
struct PlannedWidest {
  PlannedWidest(const cuda::GpuProblem& problem, const cuda::DeviceInfo& device)
      : columns(cuda::update_widest(problem.problem.type, cuda::limits_of(device, problem.determinism))) {}
  index_t columns;
};

/// Widths of panels: as equal as can be, none wider than a kernel takes.
template <class T>
index_t panel_width(const Context& ctx, index_t columns) {
  cuda::GpuProblem any;
  any.problem.operation = Operation::tsmm, any.problem.type = dtype_of<T>;
  const index_t most = cuda::kept_plan<PlannedWidest>(any, ctx.stream.device())->columns;
  const index_t panels = (columns + most - 1) / most;
  return (columns + panels - 1) / panels;
}

}  // namespace

template <class T>
void tsmm(const Context& ctx, Op op_s, result_t<T> alpha, DeviceStrided<const T> x,
          DeviceStrided<const result_t<T>> s, result_t<T> beta, DeviceStrided<result_t<T>> y) {
  const auto op_of_s = expect_tsmm(op_s, x, s, y);
  if (y.empty()) return;
  if (x.cols == 0 || alpha == result_t<T>{}) return scale_output(ctx, beta, y);
  const index_t pk = panel_width<T>(ctx, x.cols), pj = panel_width<T>(ctx, y.cols), n = x.rows;
  for (index_t j = 0; j < y.cols; j += pj)
    for (index_t k = 0; k < x.cols; k += pk) {
      const index_t p = std::min(pk, x.cols - k), q = std::min(pj, y.cols - j);
      launch_update<T>(ctx, Operation::tsmm, op_s == Op::adjoint, alpha, x.block(0, k, n, p),
                       op_of_s.block(k, j, p, q), k == 0 ? beta : result_t<T>{1}, y.block(0, j, n, q));
    }
}

template <class T>
void tsmm_in_place(const Context& ctx, Op op_s, T alpha, DeviceStrided<T> x, DeviceStrided<const T> s) {
  const auto op_of_s = expect_tsmm_in_place(op_s, x, s);
  const DeviceStrided<T> y = x.block(0, 0, x.rows, op_of_s.cols);
  if (y.empty()) return;
  if (alpha == T{}) return scale_output(ctx, T{}, y);
  if (x.cols <= panel_width<T>(ctx, x.cols))
    return launch_update<T>(ctx, Operation::tsmm_in_place, op_s == Op::adjoint, alpha, x, op_of_s, T{}, y);
  // Wider than a kernel takes: slabs of rows go through the workspace of the stream.
  const index_t slab = std::max<index_t>(1, (index_t{64} << 20) / (y.cols * static_cast<index_t>(sizeof(T))));
  const index_t most = std::min(slab, x.rows);
  const auto memory = ctx.stream.workspace(static_cast<std::size_t>(most * y.cols) * sizeof(T));
  for (index_t i = 0; i < x.rows; i += slab) {
    const index_t rows = std::min(slab, x.rows - i);
    DeviceStrided<T> result = y.block(i, 0, rows, y.cols);  // in the layout of Y
    const DeviceStrided<T> target = result;
    const bool row_major = y.col_stride == 1;
    result.data = static_cast<T*>(memory);
    (row_major ? result.row_stride : result.col_stride) = row_major ? y.cols : rows;
    tsmm<T>(ctx, op_s, alpha, x.block(i, 0, rows, x.cols), s, T{}, result);
    const auto bytes = [](index_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    const index_t line = row_major ? y.cols : rows, lines = row_major ? rows : y.cols;
    cuda::copy_lines(ctx.stream, target.data, bytes(row_major ? y.row_stride : y.col_stride), result.data,
                     bytes(line), bytes(line), static_cast<std::size_t>(lines));
  }
}

#define TS_INSTANTIATE(T)                                                        \
  template void tsmm<T>(const Context&, Op, result_t<T>, DeviceStrided<const T>, \
                        DeviceStrided<const result_t<T>>, result_t<T>, DeviceStrided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T) \
  template void tsmm_in_place<T>(const Context&, Op, T, DeviceStrided<T>, DeviceStrided<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::detail
