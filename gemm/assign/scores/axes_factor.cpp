#include "tallskinny/gemm/assign/scores/axes_factor.hpp"

#include "tallskinny/gemm/assign/rows/upload.hpp"
#include "tallskinny/gemm/assign/scores/heads_plan.hpp"
#include "tallskinny/gemm/assign/scores/heads_policy.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::inline v0 {

bool inverse_factor_serves(const Context& ctx, index_t columns) {
  return cuda::axes_factor_plan(columns, ctx.stream.device()).has_value();
}

bool inverse_factor(const Context& ctx, const DeviceMatrix<double>& gram, double dead) {
  const auto plan = cuda::axes_factor_plan(gram.rows(), ctx.stream.device());
  expects(plan.has_value(), "axes: a Gram matrix has too many columns");
  assign_device::Workspace w;
  const std::size_t told = w.reserve<double>(1);
  w.get(ctx.stream);
  cuda::launch_with<cuda::AxesFactorPolicy>(ctx, *plan,
                                            {gram.data(), static_cast<int>(gram.rows()), dead, w.at<double>(told)});
  return assign_device::fetch_number(ctx, w.at<double>(told)) != 0 || ctx.stream.rehearsal() != nullptr;
}

}  // namespace ts::inline v0
