#include "tallskinny/solvers/kmeans/pass/filter/axes.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/heads_plan.hpp"
#include "tallskinny/solvers/kmeans/pass/filter/heads_policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"

namespace ts::inline v0::assign_detail {

Matrix<double> mix_of_axes(index_t m) {
  std::vector<double> wave(at(m));
  for (index_t j = 0; j < m; ++j) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(m);
    wave[at(j)] = (std::cos(angle) + std::sin(angle)) / std::sqrt(static_cast<double>(m));
  }
  Matrix<double> mix(m, m);
  for (index_t j = 0; j < m; ++j) {
    const double sign = Philox{0, 0}.bits(static_cast<std::uint64_t>(j)) % 2 == 1 ? -1 : 1;
    for (index_t a = 0; a < m; ++a) mix(j, a) = sign * wave[at(j * a % m)];
  }
  return mix;
}

}  // namespace ts::inline v0::assign_detail

namespace ts::inline v0 {

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
