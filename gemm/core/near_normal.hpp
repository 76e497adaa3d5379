// Nearly normal random numbers, the same bits on every machine.
#pragma once

#include <numbers>

#include "tallskinny/gemm/core/philox.hpp"

namespace ts::inline v0 {

/// A number of mean 0 and variance 1 that is nearly normal: the sum of four uniform ones, of density 0.385
/// around 0 (a normal one: 0.399), and never 0. Integers and one product.
[[nodiscard]] constexpr double near_normal(const Philox& random, std::uint64_t counter) noexcept {
  const auto r = random.block(counter);
  const std::uint64_t sum = std::uint64_t{r[0]} + r[1] + r[2] + r[3];
  const auto odd = static_cast<std::int64_t>(2 * sum) - ((std::int64_t{1} << 34) - 5);
  return static_cast<double>(odd) * (std::numbers::sqrt3 * 0x1p-33);
}

}  // namespace ts::inline v0
