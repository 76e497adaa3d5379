// What the kernels of k-means on a GPU depend on: plain values.
#pragma once

#include "tallskinny/gemm/assign/rows.hpp"

namespace ts::cuda {

/// What the kernels of a pass depend on.
struct AssignProblem {
  DType type = DType::float32;
  index_t n = 0, d = 0, k = 0;
  /// Elements of a row lie side by side, without scales; the power of two that divides the addresses of rows.
  bool plain = true;
  int alignment = 16;
  bool packed = true;    ///< nothing lies between rows
  bool wide = false;     ///< x - shift is not safe, or not exact enough, in float32
  bool as_are = false;   ///< rows need neither shift nor scale before they are rounded to float16
  bool settled = false;  ///< most rows keep their labels
  bool fast = false;     ///< the best score is taken at its word
  bool room = false;     ///< labels are kept with room to move (assign/scores/kernels/assign_bounds.cuh)

  /// Words of 32 marks for n rows, whole pairs of them.
  [[nodiscard]] static constexpr index_t mark_words(index_t n) noexcept { return (n + 63) / 64 * 2; }
};
[[nodiscard]] AssignProblem assign_problem(const Rows& x, index_t k, bool wide, bool as_are = false,
                                           bool settled = false, bool fast = false, bool room = false);

}  // namespace ts::cuda
