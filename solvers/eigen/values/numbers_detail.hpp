// Numbers that the eigen-solvers write often.
#pragma once

#include <cstddef>
#include <limits>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::solvers {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// An index as the standard library wants it.
[[nodiscard]] constexpr std::size_t at(index_t i) noexcept {
  return static_cast<std::size_t>(i);
}

}  // namespace ts::solvers
