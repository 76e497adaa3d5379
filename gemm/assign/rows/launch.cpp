#include "tallskinny/gemm/assign/rows/launch.hpp"

#include "tallskinny/gemm/assign/rows/plan.hpp"
#include "tallskinny/gemm/assign/rows/policy.hpp"
#include "tallskinny/gemm/assign/rows/upload.hpp"

namespace ts::inline v0::assign_device {

void unit_rows(const Context& ctx, const Rows& x, double* unit, std::span<double> scale) {
  if (x.rows() == 0) return;
  Workspace w;
  const std::size_t scales = w.reserve<double>(x.rows());
  w.get(ctx.stream);
  cuda::launch_with<cuda::UnitRowsPolicy>(
      ctx, cuda::threads_plan("unit_rows", cuda::UnitRowsPolicy{x.type()}, x.rows()),
      {argument_of(x), static_cast<int>(x.cols()), assign_detail::least_norm, unit, w.at<double>(scales)});
  fetch_numbers(ctx, scale, w.at<double>(scales));
}

index_t reset_labels(const Context& ctx, PerRow<std::int32_t> labels, PerRow<const index_t> rows) {
  Workspace w;
  const std::size_t count = w.reserve<std::uint64_t>(1);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<char>(count), 0, sizeof(std::uint64_t));
  cuda::launch_with<cuda::ResetLabelsPolicy>(ctx,
                                             cuda::threads_plan("reset_labels", cuda::ResetLabelsPolicy{}, rows.size),
                                             {rows.size, rows.data, labels.data, w.at<cuda::word64>(count)});
  return static_cast<index_t>(fetch_number(ctx, w.at<cuda::word64>(count)));
}

}  // namespace ts::inline v0::assign_device
