#include "tallskinny/gemm/device/convert.hpp"

#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/device/policy.hpp"
#include "tallskinny/gemm/runtime/gpu/policy.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"

namespace ts::inline v0 {

cuda::KernelPlan cuda::plan_convert(std::size_t bytes, int alignment, bool from_rows, index_t rows, index_t cols,
                                    const DeviceInfo& device) {
  const ConvertPolicy policy{static_cast<int>(bytes), std::min(alignment, static_cast<int>(bytes)), from_rows};
  KernelPlan plan = plan_of("convert", policy);
  plan.grid = grid_of(ceil_div(rows, policy.tile_rows) * ceil_div(cols, policy.tile_cols),
                      index_t{16} * device.multiprocessors);
  plan.block = policy.threads;
  plan.budget = {64, policy.shared_bytes()};
  return plan;
}

template <class T>
void detail::convert(const Context& ctx, DeviceStrided<const T> from, DeviceStrided<T> to) {
  expect_shape("convert", "the result", to, from.rows, from.cols, "the shape of what is converted");
  expect_disjoint("convert", to, "the result", from, "what is converted");
  if (from.empty()) return;
  const bool from_rows = from.col_stride == 1;
  const int alignment = std::min(cuda::form_of(from).alignment, cuda::form_of(to).alignment);
  const cuda::KernelPlan plan =
      cuda::plan_convert(sizeof(T), alignment, from_rows, from.rows, from.cols, ctx.stream.device());
  cuda::launch_with<cuda::ConvertPolicy>(ctx, plan,
                                         {to.data, from_rows ? to.col_stride : to.row_stride, from.data,
                                          from_rows ? from.row_stride : from.col_stride, from.rows, from.cols});
}

TS_FOR_EACH_TYPE(TS_FUNCTION, detail::convert)

}  // namespace ts::inline v0
