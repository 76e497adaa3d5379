// How rows lie in memory, as far as kernels depend on it: plain values.
#pragma once

#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"

namespace ts::inline v0::cuda {

struct RowsForm {
  DType type = DType::float32;
  index_t n = 0, d = 0;
  bool plain = true;   ///< elements of a row lie side by side, without scales
  int alignment = 16;  ///< the power of two that divides the addresses of rows
  bool packed = true;  ///< nothing lies between rows
};
[[nodiscard]] RowsForm rows_form(const Rows& x);

}  // namespace ts::inline v0::cuda
