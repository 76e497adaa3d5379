#include "tallskinny/solvers/random.hpp"

#include <cmath>
#include <numbers>

namespace ts::solvers {

std::array<double, 2> Random::normal2(std::uint64_t counter) const noexcept {
  const auto [u, v] = uniform2(counter);
  const double radius = std::sqrt(-2.0 * std::log1p(-u));  // 1 - u lies in (0, 1]
  const double angle = 2.0 * std::numbers::pi * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace ts::solvers
