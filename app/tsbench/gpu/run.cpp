#include "tallskinny/app/tsbench/gpu/run.hpp"

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace ts::bench {

// A case's layout is a value, so that operands come as strided views: what the operations are made of.
template <class T>
void run_on_gpu(const Context& ctx, const DeviceOperands<T>& o) {
  using R = result_t<T>;
  constexpr bool result_type = std::is_same_v<T, R>;
  const R one{1}, zero{};
  switch (o.problem.operation) {
    case Operation::tsmttsm:
      return detail::tsmttsm<T>(ctx, Op::adjoint, one, o.x, o.y, zero, o.result);
    case Operation::gram:
      return detail::gram<T>(ctx, Op::adjoint, one, o.x, zero, o.result);
    case Operation::tsmm:
      return detail::tsmm<T>(ctx, Op::none, one, o.x, o.small, zero, o.out);
    case Operation::tsmm_in_place:
      if constexpr (result_type) detail::tsmm_in_place<T>(ctx, Op::none, one, o.out, o.small);
      return;
    case Operation::tsm2r:
      return detail::tsm2r<T>(ctx, Op::none, one, o.x, o.y, zero, o.out);
    case Operation::spmm:
      return detail::spmm<T, std::int32_t>(ctx, Op::none, one, o.sparse, zero, o.x, zero, o.out);
    case Operation::column_norms: {
      const DeviceStrided<real_t<T>> norms(reinterpret_cast<real_t<T>*>(o.result.data), 1, o.problem.p,
                                           o.problem.p, 1);
      return detail::column_norms<T>(ctx, o.x, norms);
    }
    case Operation::trsm:
    case Operation::inner_and_gram:
    case Operation::project_out:
      break;  // of result types alone
  }
  if constexpr (result_type) {
    if (o.problem.operation == Operation::trsm) return detail::trsm<T>(ctx, o.out, o.small);
    if (o.problem.operation == Operation::inner_and_gram)
      return detail::inner_and_gram<T>(ctx, o.x, o.y, o.result, o.gram);
    detail::project_out<T>(ctx, o.x, o.small, o.out, o.result, o.gram);
  }
}

std::vector<cuda::KernelPlan> kernels_of(const Case& c, const cuda::DeviceInfo& device,
                                         Determinism determinism) {
  if (c.problem.operation == Operation::spmm) {  // whose plan looks at the matrix
    std::vector<cuda::KernelPlan> kernels;
    for (cuda::GpuPlan& plan : plans_of(c, device, determinism)) kernels.push_back(std::move(plan.kernel));
    return kernels;
  }
  Context ctx;
  ctx.stream = cuda::Stream::rehearsing(device);
  ctx.determinism = determinism;
#define TS_CASE(T) \
  if (c.problem.type == dtype_of<T>) run_on_gpu(ctx, operands_at<T>(c, Places{}));
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
  return ctx.stream.rehearsal()->kernels;
}

#define TS_INSTANTIATE(T) template void run_on_gpu<T>(const Context&, const DeviceOperands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
