#include "tallskinny/gemm/tsmm/wide_launch.hpp"

#include <optional>

#include "tallskinny/gemm/device/scalars.hpp"
#include "tallskinny/gemm/device/tall_operand.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/runtime/gpu/tensor_map.hpp"
#include "tallskinny/gemm/tsmm/wide_plan.hpp"

namespace ts::detail {
namespace {

/// As tsmm/kernels/small_factor.cuh declares it.
struct SmallFactor {
  const void* data;
  index_t row_stride, column_stride;
  int conjugate;
};
/// As tsmm/kernels/tsmm_wide.cuh declares it.
struct WideResult {
  void* data;
  index_t row_stride, column_stride;
};

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
                 DeviceStrided<const T> x, DeviceStrided<const S> s, result_t<T> beta,
                 DeviceStrided<result_t<T>> y) {
  constexpr DType type = dtype_of<T>;
  cuda::GpuProblem problem;
  problem.problem = {operation, type, x.rows, x.cols, s.cols, beta != result_t<T>{}};
  problem.first = cuda::form_of(x), problem.second = cuda::form_of(s), problem.out = cuda::form_of(y);
  problem.determinism = ctx.determinism;
  const auto planned = cuda::kept_plan<PlannedWide>(problem, ctx.stream.device());
  if (!planned->product) return false;
  const cuda::WideShape& shape = planned->shape;
  void* const fragments = ctx.stream.workspace(planned->product->plan().workspace_bytes);
  // conj(X) S = conj(X conj(S))
  const SmallFactor small{s.data, s.row_stride, s.col_stride, conjugated.s != conjugated.x};
  planned->factor->launch(ctx, small, x.cols, shape.k_blocks, fragments);
  cuda::TensorMap map{};
  if (ctx.stream.rehearsal() == nullptr)
    map = cuda::tensor_map_of(ctx.stream.device().index, x.data, scalar_bytes(type), x.rows,
                              x.cols * parts_of(type), x.row_stride * static_cast<index_t>(sizeof(T)),
                              shape.rows);
  const auto panels = static_cast<int>(shape.panels);
  planned->product->launch(ctx, map, cuda::OperandArgument{x.data, x.row_stride, x.col_stride}, small,
                           fragments, WideResult{y.data, y.row_stride, y.col_stride}, x.rows, x.cols, panels,
                           operation == Operation::tsm2r ? panels : 0, static_cast<int>(conjugated.x),
                           cuda::scalars_of(alpha), cuda::scalars_of(beta));
  return true;
}

#define TS_INSTANTIATE(T)                                                                             \
  template bool launch_wide<T, result_t<T>>(const Context&, Operation, Conjugated, result_t<T>,       \
                                            DeviceStrided<const T>, DeviceStrided<const result_t<T>>, \
                                            result_t<T>, DeviceStrided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
template bool launch_wide<float16, float16>(const Context&, Operation, Conjugated, float,
                                            DeviceStrided<const float16>, DeviceStrided<const float16>, float,
                                            DeviceStrided<float>);
template bool launch_wide<bfloat16, bfloat16>(const Context&, Operation, Conjugated, float,
                                              DeviceStrided<const bfloat16>, DeviceStrided<const bfloat16>,
                                              float, DeviceStrided<float>);

}  // namespace ts::detail
