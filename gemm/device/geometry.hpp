// What kernel plans have in common: how much is moved at once, and how many blocks that takes.
#pragma once

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/plan/gpu_problem.hpp"

namespace ts::inline v0::cuda {

[[nodiscard]] constexpr index_t ceil_div(index_t a, index_t b) noexcept { return (a + b - 1) / b; }

/// The largest power of two that divides both.
[[nodiscard]] constexpr int common_power(index_t a, index_t b) noexcept {
  return 1 << std::min(10, std::countr_zero(static_cast<std::uint64_t>(a | b)));
}

/// Elements that one instruction moves, and the alignment it may count on.
struct Piece {
  int count = 1, alignment = 1;
};

/// The widest piece of elements of `bytes` bytes, up to 16 bytes, that the form's alignment allows and that
/// divides lines of `width` elements.
[[nodiscard]] constexpr Piece widest_piece(std::size_t bytes, const Form& form, index_t width) noexcept {
  const int size = static_cast<int>(bytes), allowed = std::min(16, form.alignment);
  const int count = std::max(1, std::min(allowed / size, common_power(width, 16)));
  return {count, std::min(allowed, count * size)};
}

/// The blocks of a grid that needs `wanted`, but at most `limit` and what a grid can have.
[[nodiscard]] constexpr unsigned grid_of(index_t wanted, index_t limit) noexcept {
  return static_cast<unsigned>(std::clamp<index_t>(wanted, 0, std::min<index_t>(limit, INT32_MAX)));
}

/// Of so many blocks whose sums are added, how many are added first: sums of sums, both of about as many.
[[nodiscard]] inline int group_size_of(int blocks) noexcept { return static_cast<int>(std::ceil(std::sqrt(blocks))); }

}  // namespace ts::inline v0::cuda
