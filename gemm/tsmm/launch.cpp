#include <algorithm>
#include <optional>

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/library/products.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/tensor_map.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/tsmm/detail.hpp"
#include "tallskinny/gemm/tsmm/plan.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmm/wide_policy.hpp"

namespace ts::inline v0::detail {
namespace {

template <class T, class S>
cuda::GpuProblem problem_of(const Context& ctx, Operation operation, const DeviceStrided<const T>& x,
                            const DeviceStrided<const S>& s, bool accumulate, const DeviceStrided<result_t<T>>& y) {
  cuda::GpuProblem problem;
  problem.problem = {operation, dtype_of<T>, x.rows, x.cols, s.cols, accumulate};
  problem.first = cuda::form_of(x), problem.second = cuda::form_of(s), problem.out = cuda::form_of(y);
  problem.determinism = ctx.determinism;
  return problem;
}

/// One launch; s is op(S) but for conjugation.
template <class T>
void launch_update(const Context& ctx, Operation operation, bool conjugate, result_t<T> alpha, DeviceStrided<const T> x,
                   DeviceStrided<const result_t<T>> s, result_t<T> beta, DeviceStrided<result_t<T>> y) {
  const cuda::GpuProblem problem = problem_of(ctx, operation, x, s, beta != result_t<T>{}, y);
  cuda::kept_plan(problem, ctx.stream.device())
      ->kernel.launch_with<cuda::TsmmPolicy>(ctx, {{x.data, x.row_stride, x.col_stride},
                                                   {s.data, s.row_stride, s.col_stride, conjugate},
                                                   {y.data, y.row_stride, y.col_stride},
                                                   x.rows,
                                                   cuda::scalars_of(alpha),
                                                   cuda::scalars_of(beta),
                                                   ctx.stream.counters()});
}

/// The columns that a kernel takes.
struct PlannedWidest {
  PlannedWidest(const cuda::GpuProblem& problem, const cuda::DeviceInfo& device)
      : columns(cuda::tsmm_widest(problem.problem.type, cuda::limits_of(device, problem.determinism))) {}
  index_t columns;
};

template <class T>
index_t widest(const Context& ctx) {
  cuda::GpuProblem any;
  any.problem.operation = Operation::tsmm, any.problem.type = dtype_of<T>;
  return cuda::kept_plan<PlannedWidest>(any, ctx.stream.device())->columns;
}

/// f(first, width) for blocks of columns as equal as can be, none wider than `most`.
template <class F>
void for_each_block(index_t columns, index_t most, F f) {
  const index_t blocks = (columns + most - 1) / most, width = (columns + blocks - 1) / blocks;
  for (index_t first = 0; first < columns; first += width) f(first, std::min(width, columns - first));
}

/// In panels of X and blocks of Y that a kernel takes, however they lie: Y is read again for every panel.
template <class T>
void update_by_panels(const Context& ctx, bool conjugate, result_t<T> alpha, DeviceStrided<const T> x,
                      DeviceStrided<const result_t<T>> op_of_s, result_t<T> beta, DeviceStrided<result_t<T>> y) {
  const index_t most = widest<T>(ctx), n = x.rows;
  for_each_block(y.cols, most, [&](index_t j, index_t q) {
    for_each_block(x.cols, most, [&](index_t k, index_t p) {
      launch_update<T>(ctx, Operation::tsmm, conjugate, alpha, x.block(0, k, n, p), op_of_s.block(k, j, p, q),
                       k == 0 ? beta : result_t<T>{1}, y.block(0, j, n, q));
    });
  });
}

/// Both kernels, if this family is the best for the problem.
struct PlannedWide {
  PlannedWide(const cuda::GpuProblem& problem, const cuda::DeviceInfo& device) {
    if (cuda::wide_candidates(problem, device).empty()) return;
    cuda::KernelPlan plan = cuda::make_plan(problem, device).kernel;
    if (plan.family != "tsmm_wide") return;
    shape = cuda::wide_shape(problem, plan);
    factor.emplace(shape.factor), product.emplace(std::move(plan));
  }
  cuda::WideShape shape;
  std::optional<cuda::ReadyKernel> factor, product;
};

}  // namespace

template <class T, class S>
bool launch_wide(const Context& ctx, Operation operation, Conjugated conjugated, result_t<T> alpha,
                 DeviceStrided<const T> x, DeviceStrided<const S> s, result_t<T> beta, DeviceStrided<result_t<T>> y) {
  const cuda::GpuProblem problem = problem_of(ctx, operation, x, s, beta != result_t<T>{}, y);
  const auto planned = cuda::kept_plan<PlannedWide>(problem, ctx.stream.device());
  if (!planned->product) return false;
  const cuda::WideShape& shape = planned->shape;
  auto* const fragments = static_cast<unsigned char*>(ctx.stream.workspace(planned->product->plan().workspace_bytes));
  // conj(X) S = conj(X conj(S))
  const cuda::SmallFactorArgument small{s.data, s.row_stride, s.col_stride, conjugated.s != conjugated.x};
  planned->factor->launch_with<cuda::WideFactorPolicy>(ctx, {small, x.cols, shape.k_blocks, fragments});
  const auto panels = static_cast<int>(shape.panels);
  cuda::WideArguments product{{},
                              {x.data, x.row_stride, x.col_stride},
                              small,
                              fragments,
                              {y.data, y.row_stride, y.col_stride},
                              x.rows,
                              x.cols,
                              panels,
                              operation == Operation::tsm2r ? panels : 0,
                              conjugated.x,
                              cuda::scalars_of(alpha),
                              cuda::scalars_of(beta)};
  if (ctx.stream.rehearsal() == nullptr)
    product.map =
        cuda::tensor_map_of(ctx.stream.device().index, x.data, scalar_bytes(dtype_of<T>), x.rows,
                            x.cols * parts_of(dtype_of<T>), x.row_stride * static_cast<index_t>(sizeof(T)), shape.rows);
  planned->product->launch_with<cuda::WidePolicy>(ctx, product);
  return true;
}

template <class T>
void tsmm(const Context& ctx, Op op_s, result_t<T> alpha, DeviceStrided<const T> x, DeviceStrided<const result_t<T>> s,
          result_t<T> beta, DeviceStrided<result_t<T>> y) {
  const auto op_of_s = expect_tsmm(op_s, x, s, y);
  if (y.empty()) return;
  if (x.cols == 0 || alpha == result_t<T>{}) return scale_output(ctx, beta, y);
  const Profile::Piece piece(ctx, {Operation::tsmm, dtype_of<T>, x.rows, x.cols, y.cols, beta != result_t<T>{}},
                             Space::device);
  if constexpr (std::is_same_v<T, result_t<T>>) {
    const cuda::GpuProblem all = problem_of(ctx, Operation::tsmm, x, op_of_s, beta != result_t<T>{}, y);
    const bool conjugates = is_complex<T> && op_s == Op::adjoint;
    if (!conjugates && cuda::product_by_library<T>(ctx, all, false, alpha, x, op_of_s, beta, y)) return;
  }
  const Conjugated conjugated{false, op_s == Op::adjoint};
  for_each_block(y.cols, cuda::wide_widest(dtype_of<T>), [&](index_t j, index_t q) {
    const auto sj = op_of_s.block(0, j, x.cols, q);
    const auto yj = y.block(0, j, x.rows, q);
    if (!launch_wide<T>(ctx, Operation::tsmm, conjugated, alpha, x, sj, beta, yj))
      update_by_panels<T>(ctx, conjugated.s, alpha, x, sj, beta, yj);
  });
}

template <class T>
void tsmm_in_place(const Context& ctx, Op op_s, T alpha, DeviceStrided<T> x, DeviceStrided<const T> s) {
  const auto op_of_s = expect_tsmm_in_place(op_s, x, s);
  const DeviceStrided<T> y = x.block(0, 0, x.rows, op_of_s.cols);
  if (y.empty()) return;
  if (alpha == T{}) return scale_output(ctx, T{}, y);
  const Profile::Piece piece(ctx, {Operation::tsmm_in_place, dtype_of<T>, x.rows, x.cols, y.cols}, Space::device);
  if (x.cols <= widest<T>(ctx))
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
    update_by_panels<T>(ctx, op_s == Op::adjoint, alpha, x.block(i, 0, rows, x.cols), op_of_s, T{}, result);
    const auto bytes = [](index_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
    const index_t line = row_major ? y.cols : rows, lines = row_major ? rows : y.cols;
    cuda::copy_lines(ctx.stream, target.data, bytes(row_major ? y.row_stride : y.col_stride), result.data, bytes(line),
                     bytes(line), static_cast<std::size_t>(lines));
  }
}

#define TS_INSTANTIATE(T)                                                                                          \
  template bool launch_wide<T, result_t<T>>(const Context&, Operation, Conjugated, result_t<T>,                    \
                                            DeviceStrided<const T>, DeviceStrided<const result_t<T>>, result_t<T>, \
                                            DeviceStrided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T)                                                                               \
  template bool launch_wide<T, T>(const Context&, Operation, Conjugated, float, DeviceStrided<const T>, \
                                  DeviceStrided<const T>, float, DeviceStrided<float>);
TS_FOR_EACH_HALF_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T)                                                                                          \
  template void tsmm<T>(const Context&, Op, result_t<T>, DeviceStrided<const T>, DeviceStrided<const result_t<T>>, \
                        result_t<T>, DeviceStrided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T) \
  template void tsmm_in_place<T>(const Context&, Op, T, DeviceStrided<T>, DeviceStrided<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
