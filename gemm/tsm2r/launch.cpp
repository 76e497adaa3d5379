#include <algorithm>

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/library/products.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/tsm2r/detail.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/detail.hpp"
#include "tallskinny/gemm/tsmttsm/launch.hpp"

namespace ts::inline v0::detail {

// The rows of op(D) are the columns of a tall A = op(D)^T, so that Y = A^T X: an inner product whose A is cut
// into panels, each read once by the blocks that own it, while X comes from the L2 cache. A large op(D) whose
// rows are contiguous is taken as a wide X of TSMM instead.
template <class T>
void tsm2r(const Context& ctx, Op op_d, result_t<T> alpha, DeviceStrided<const T> d, DeviceStrided<const T> x,
           result_t<T> beta, DeviceStrided<result_t<T>> y) {
  const auto op_of_d = expect_tsm2r(op_d, d, x, y);
  if (y.empty()) return;
  if (x.rows == 0 || alpha == result_t<T>{}) return scale_output(ctx, beta, y);
  const Profile::Piece piece(ctx, {Operation::tsm2r, dtype_of<T>, y.rows, x.rows, y.cols, beta != result_t<T>{}},
                             Space::device);
  const DeviceStrided<const T> a = op_of_d.transposed();
  cuda::GpuProblem all;
  all.problem = {Operation::tsm2r, dtype_of<T>, y.rows, x.rows, y.cols};
  all.first = cuda::form_of(op_of_d), all.second = cuda::form_of(x), all.out = cuda::form_of(y), all.op = op_d;
  all.determinism = ctx.determinism;
  if (cuda::product_by_library<T>(ctx, all, op_d == Op::adjoint, alpha, op_of_d, x, beta, y)) return;
  const index_t width = cuda::inner_width(all, ctx.stream.device());
  for (index_t j = 0; j < x.cols; j += width) {
    const index_t q = std::min(width, x.cols - j);
    const auto xj = x.block(0, j, x.rows, q);
    const auto yj = y.block(0, j, y.rows, q);
    const bool adjoint = op_d == Op::adjoint;
    if (!launch_wide<T>(ctx, Operation::tsm2r, Conjugated{adjoint, false}, alpha, op_of_d, xj, beta, yj))
      launch_inner<T>(ctx, {Operation::tsm2r, adjoint ? Op::adjoint : Op::transpose, alpha, a, xj, beta, yj});
  }
}

#define TS_INSTANTIATE(T)                                                                                              \
  template void tsm2r<T>(const Context&, Op, result_t<T>, DeviceStrided<const T>, DeviceStrided<const T>, result_t<T>, \
                         DeviceStrided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::detail
