// What the kernels of a pass on a GPU depend on: plain values.
#pragma once

#include "tallskinny/gemm/assign/rows/form.hpp"

namespace ts::inline v0::cuda {

struct AssignProblem {
  RowsForm rows;
  index_t k = 0;
  bool wide = false;     ///< x - shift is not safe, or not exact enough, in float32
  bool as_are = false;   ///< rows need neither shift nor scale before they are rounded to float16
  bool settled = false;  ///< most rows keep their labels
  bool fast = false;     ///< the best score is taken at its word
  bool margin = false;   ///< labels are kept only with a margin (scores/kernels/assign_bounds.cuh)

  /// Words of 32 marks for n rows, whole pairs of them.
  [[nodiscard]] static constexpr index_t mark_words(index_t n) noexcept { return (n + 63) / 64 * 2; }
};

}  // namespace ts::inline v0::cuda
