#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/trsm/policy.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"

namespace ts::inline v0::detail {

template <class T>
void trsm(const Context& ctx, DeviceStrided<T> x, DeviceStrided<const T> r) {
  expect_shape("trsm", "R", r, x.cols, x.cols, "square, with the columns of X");
  expect_disjoint("trsm", x, "X", r, "R");
  if (x.empty()) return;
  cuda::GpuProblem problem;
  problem.problem = {Operation::trsm, dtype_of<T>, x.rows, x.cols, x.cols};
  const Profile::Piece piece(ctx, problem.problem, Space::device);
  problem.first = cuda::form_of(x), problem.second = cuda::form_of(r);
  const auto planned = cuda::kept_plan(problem, ctx.stream.device());
  planned->kernel.launch_with<cuda::TrsmPolicy>(
      ctx, {x.data, x.rows, x.row_stride, x.col_stride, r.data, r.row_stride, r.col_stride});
}

#define TS_INSTANTIATE(T) template void trsm<T>(const Context&, DeviceStrided<T>, DeviceStrided<const T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
