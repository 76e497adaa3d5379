#include <optional>

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/library/products.hpp"
#include "tallskinny/gemm/plan/kept_plans.hpp"
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/spmm/plan.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"

namespace ts::inline v0::detail {
namespace {

struct PlannedSpmm : cuda::PlannedKernel {
  PlannedSpmm(const cuda::GpuProblem& problem, const cuda::DeviceInfo& device) : PlannedKernel(problem, device) {
    const auto policy = cuda::policy_of<cuda::SpmmPolicy>(kernel.plan());
    if (policy.by_parts) splits.emplace(cuda::spmm_splits_plan(policy, problem.sparse));
  }
  std::optional<cuda::ReadyKernel> splits;  ///< what follows a kernel by parts
};

/// Y = alpha (B - shift I) X + beta Y with at most spmm_widest columns; B is A or, for other ops, the
/// transposed that A keeps.
template <class T, class I>
void launch_spmm(const Context& ctx, Op op, result_t<T> alpha, const CsrView<T, Space::device, I>& b, result_t<T> shift,
                 DeviceStrided<const T> x, result_t<T> beta, DeviceStrided<result_t<T>> y) {
  cuda::GpuProblem problem;
  problem.problem = {Operation::spmm, dtype_of<T>, b.rows, b.cols, x.cols};
  problem.problem.accumulate = beta != result_t<T>{};
  problem.shifted = shift != result_t<T>{}, problem.determinism = ctx.determinism;
  problem.problem.nonzeros = b.stored, problem.problem.index_bytes = static_cast<int>(sizeof(I));
  problem.op = op, problem.second = cuda::form_of(x), problem.out = cuda::form_of(y), problem.sparse = b.facts;
  if (cuda::spmm_by_library<T, I>(ctx, problem, alpha, b, x, beta, y)) return;
  const auto planned = cuda::kept_plan<PlannedSpmm>(problem, ctx.stream.device());
  cuda::SpmmArguments<result_t<T>> arguments{{b.pointers, b.indices, b.values},
                                             {x.data, x.row_stride, x.col_stride},
                                             {y.data, y.row_stride, y.col_stride},
                                             alpha,
                                             beta,
                                             -shift,
                                             b.rows,
                                             b.parts,
                                             nullptr};
  using Policy = cuda::SpmmPolicy;
  if (planned->splits)
    arguments.carries = static_cast<result_t<T>*>(ctx.stream.workspace(planned->kernel.plan().workspace_bytes));
  planned->kernel.launch_with<Policy, result_t<T>>(ctx, arguments);
  if (planned->splits) planned->splits->launch_with<Policy, result_t<T>>(ctx, arguments);
}

}  // namespace

template <class T, class I>
void spmm(const Context& ctx, Op op_a, result_t<T> alpha, CsrView<T, Space::device, I> a, result_t<T> shift,
          DeviceStrided<const T> x, result_t<T> beta, DeviceStrided<result_t<T>> y) {
  expect_argument("spmm", a.rows >= 0 && a.cols >= 0, "A has negative rows or columns");
  expect_argument("spmm", a.rows == 0 || a.pointers != nullptr, "A has rows but no row pointers");
  const index_t m = op_a == Op::none ? a.rows : a.cols, n = op_a == Op::none ? a.cols : a.rows;
  expect_shape("spmm", "X", x, n, x.cols, "as many rows as op(A) has columns");
  expect_shape("spmm", "Y", y, m, x.cols, "rows of op(A) by columns of X");
  expect_argument("spmm", shift == result_t<T>{} || m <= n, "A - shift I takes an A with no fewer columns than rows");
  expect_disjoint("spmm", y, "Y", x, "X");
  if (y.empty()) return;
  if (x.rows == 0 || alpha == result_t<T>{}) return scale_output(ctx, beta, y);
  expect_argument("spmm", op_a == Op::none || a.transposed != nullptr,
                  "on a GPU A^T X takes a matrix that keeps its transposed: call DeviceCsrMatrix::keep_transposed");
  const auto& b = op_a == Op::none ? a : *a.transposed;
  Problem problem{Operation::spmm, dtype_of<T>, m, n, y.cols, beta != result_t<T>{}};
  problem.nonzeros = b.stored, problem.index_bytes = static_cast<int>(sizeof(I));
  const Profile::Piece piece(ctx, problem, Space::device);
  const index_t widest = cuda::spmm_widest(dtype_of<T>);
  for (index_t first = 0; first < x.cols; first += widest) {
    const index_t width = std::min(widest, x.cols - first);
    launch_spmm<T, I>(ctx, op_a, alpha, b, shift, x.block(0, first, n, width), beta, y.block(0, first, m, width));
  }
}

template <class T, class I>
void spmm_residual(const Context& ctx, CsrView<T, Space::device, I> a, DeviceStrided<const T> x,
                   DeviceView<const double> theta, DeviceStrided<T> r) {
  expect_argument("spmm_residual", a.rows <= a.cols, "A must have no fewer columns than rows");
  expect_shape("spmm_residual", "X", x, a.cols, x.cols, "as many rows as A has columns");
  expect_shape("spmm_residual", "R", r, a.rows, x.cols, "the rows of A by the columns of X");
  expect_shape("spmm_residual", "theta", DeviceStrided<const double>(theta), 1, x.cols, "a row with the columns of X");
  expect_disjoint("spmm_residual", r, "R", x, "X");
  if (r.empty()) return;
  Problem problem{Operation::spmm, dtype_of<T>, a.rows, a.cols, x.cols};
  problem.nonzeros = a.stored, problem.index_bytes = static_cast<int>(sizeof(I));
  Cost cost = cost_of(problem);
  cost.flops *= 10;  // each product: ten operations, none of them fused with another
  const Profile::Piece piece(ctx, "residuals in twofold sums", cost, dtype_of<T>, Space::device);
  const index_t of_row = a.facts.of_row > 0 ? a.facts.of_row : a.stored / a.rows;
  const cuda::KernelPlan plan = cuda::plan_residual(dtype_of<T>, problem.index_bytes, a.rows, of_row);
  cuda::launch_with<cuda::ResidualPolicy>(ctx, plan,
                                          {{a.pointers, a.indices, a.values},
                                           {x.data, x.row_stride, x.col_stride},
                                           {r.data, r.row_stride, r.col_stride},
                                           theta.data(),
                                           a.rows,
                                           x.cols});
}

#define TS_INSTANTIATE_INDEX(T, I)                                                                     \
  template void spmm<T, I>(const Context&, Op, result_t<T>, CsrView<T, Space::device, I>, result_t<T>, \
                           DeviceStrided<const T>, result_t<T>, DeviceStrided<result_t<T>>);
#define TS_INSTANTIATE(T) TS_INSTANTIATE_INDEX(T, std::int32_t) TS_INSTANTIATE_INDEX(T, std::int64_t)
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#undef TS_INSTANTIATE_INDEX

TS_FOR_EACH_RESULT_TYPE(TS_INDEXED_FUNCTION, spmm_residual)
#undef TS_INSTANTIATE_INDEX

}  // namespace ts::inline v0::detail
