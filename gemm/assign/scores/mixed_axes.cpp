#include "tallskinny/gemm/assign/scores/mixed_axes.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"

namespace ts::inline v0::assign_detail {

Matrix<double> mixed_axes(const Context& ctx, HostView<const double> axes) {
  Context here = alone(ctx);
  here.stream = {};
  const index_t m = axes.cols();
  std::vector<double> wave(static_cast<std::size_t>(m));
  for (index_t j = 0; j < m; ++j) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(m);
    wave[static_cast<std::size_t>(j)] = (std::cos(angle) + std::sin(angle)) / std::sqrt(static_cast<double>(m));
  }
  Matrix<double> mix(m, m), found(axes.rows(), m);
  for (index_t j = 0; j < m; ++j) {
    const double sign = Philox{0, 0}.bits(static_cast<std::uint64_t>(j)) % 2 == 1 ? -1 : 1;
    for (index_t a = 0; a < m; ++a) mix(j, a) = sign * wave[static_cast<std::size_t>(j * a % m)];
  }
  tsmm(here, Op::none, 1.0, axes, mix.cview(), 0.0, found.view());
  return found;
}

}  // namespace ts::inline v0::assign_detail
