#include "tallskinny/gemm/backend/cuda/launch.hpp"
#include "tallskinny/gemm/backend/cuda/scale.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/spmm/cuda/spmm_kernel.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"

namespace ts::detail {

template <class T, class I>
void spmm(const Context& ctx, Op op_a, result_t<T> alpha, CsrView<T, Space::device, I> a,
          DeviceStrided<const T> x, result_t<T> beta, DeviceStrided<result_t<T>> y) {
  expect_argument(
      "spmm", op_a == Op::none,
      "on a GPU op must be none: store the transposed matrix instead (rows of it are what threads share)");
  expect_argument("spmm", a.rows >= 0 && a.cols >= 0, "A has negative rows or columns");
  expect_argument("spmm", a.rows == 0 || a.pointers != nullptr, "A has rows but no row pointers");
  expect_shape("spmm", "X", x, a.cols, x.cols, "as many rows as A has columns");
  expect_shape("spmm", "Y", y, a.rows, x.cols, "rows of A by columns of X");
  expect_disjoint("spmm", y, "Y", x, "X");
  if (y.empty()) return;
  if (x.rows == 0 || alpha == result_t<T>{}) return scale_output(ctx, beta, y);

  const index_t widest = cuda::spmm_widest(dtype_of<T>);
  for (index_t first = 0; first < x.cols; first += widest) {
    const index_t width = std::min(widest, x.cols - first);
    const auto x_slab = x.block(0, first, x.rows, width);
    const auto y_slab = y.block(0, first, y.rows, width);
    cuda::GpuProblem problem;
    problem.problem = {Operation::spmm, dtype_of<T>, a.rows, a.cols, x_slab.cols};
    problem.problem.accumulate = beta != result_t<T>{};
    problem.problem.nonzeros = a.stored, problem.problem.index_bytes = static_cast<int>(sizeof(I));
    problem.second = cuda::form_of(x_slab), problem.out = cuda::form_of(y_slab);
    const cuda::KernelPlan plan = cuda::make_plan(problem, ctx.stream.device()).kernel;
    cuda::launch(ctx, plan, a.rows, a.pointers, a.indices, a.values, x_slab.data, x.row_stride, x.col_stride,
                 y_slab.data, y.row_stride, y.col_stride, alpha, beta);
  }
}

#define TS_INSTANTIATE_INDEX(T, I)                                                        \
  template void spmm<T, I>(const Context&, Op, result_t<T>, CsrView<T, Space::device, I>, \
                           DeviceStrided<const T>, result_t<T>, DeviceStrided<result_t<T>>);
#define TS_INSTANTIATE(T) TS_INSTANTIATE_INDEX(T, std::int32_t) TS_INSTANTIATE_INDEX(T, std::int64_t)
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#undef TS_INSTANTIATE_INDEX

}  // namespace ts::detail
