#include <algorithm>

#include "tallskinny/gemm/comm/row_parts.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/tsmttsm/detail.hpp"
#include "tallskinny/gemm/tsmttsm/inner_launch.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"

namespace ts::detail {

template <class T>
void tsmttsm(const Context& ctx, Op op, result_t<T> alpha, DeviceStrided<const T> a, DeviceStrided<const T> b,
             result_t<T> beta, DeviceStrided<result_t<T>> c) {
  expect_tsmttsm(op, a, b, c);
  if (c.empty()) return;
  if ((a.rows == 0 && !distributed(ctx)) || alpha == result_t<T>{}) return scale_output(ctx, beta, c);
  const Profile::Piece piece(ctx, {Operation::tsmttsm, dtype_of<T>, a.rows, a.cols, b.cols, beta != result_t<T>{}},
                             Space::device);
  const index_t width = inner_width<T>(a, b);
  for (index_t j = 0; j < b.cols; j += width) {
    const index_t q = std::min(width, b.cols - j);
    launch_inner<T>(ctx, Operation::tsmttsm, op, alpha, a, b.block(0, j, b.rows, q), beta, c.block(0, j, c.rows, q));
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
  const cuda::Form form = cuda::form_of(a);
  const bool run = form.layout == Layout::row_major && (form.contiguous || form.gap > 0);
  // All columns at once where the kernel takes them, else panels, which it takes however they lie. All ranks
  // cut alike, and all devices at level gpu_to_gpu.
  const bool alone = !distributed(ctx) && ctx.determinism == Determinism::run_to_run;
  const index_t most = alone && run && ctx.stream.device().capability() >= 90 ? cuda::inner_scalars_max : 96;
  const bool whole = a.cols * parts_of(dtype_of<T>) <= most;
  const index_t width = whole ? a.cols : inner_width<T>(a.cols, cuda::inner_scalars_any);
  for (index_t i = 0; i < a.cols; i += width)
    for (index_t j = i; j < a.cols; j += width) {
      const index_t p = std::min(width, a.cols - i), q = std::min(width, a.cols - j);
      result_t<T>* const mirror = c.data + j * c.row_stride + i * c.col_stride;
      launch_inner<T>(ctx, i == j ? Operation::gram : Operation::tsmttsm, op, alpha, a.block(0, i, a.rows, p),
                      a.block(0, j, a.rows, q), beta, c.block(i, j, p, q), i == j ? nullptr : mirror);
    }
}

#define TS_INSTANTIATE(T)                                                                                   \
  template void tsmttsm<T>(const Context&, Op, result_t<T>, DeviceStrided<const T>, DeviceStrided<const T>, \
                           result_t<T>, DeviceStrided<result_t<T>>);                                        \
  template void gram<T>(const Context&, Op, result_t<T>, DeviceStrided<const T>, result_t<T>,               \
                        DeviceStrided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::detail
