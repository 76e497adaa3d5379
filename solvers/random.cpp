#include "tallskinny/solvers/random.hpp"

#include <cmath>
#include <numbers>

#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/solvers/random_block.hpp"

namespace ts::inline v0::solvers {

std::array<double, 2> Random::normal2(std::uint64_t counter) const noexcept {
  const auto [u, v] = uniform2(counter);
  const double radius = std::sqrt(-2.0 * std::log1p(-u));  // 1 - u lies in (0, 1]
  const double angle = 2.0 * std::numbers::pi * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

template <class T>
void fill_random(const Context& ctx, std::uint64_t seed, std::uint64_t stream, PlacedView<T> x) {
  const Philox random{seed, stream};
  if (x.space() == Space::host)
    ts::fill_random<T>(ctx, random, x.host(), first_row(ctx));
  else
    ts::fill_random<T>(ctx, random, x.template in<Space::device>(), first_row(ctx));
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, fill_random)

}  // namespace ts::inline v0::solvers
