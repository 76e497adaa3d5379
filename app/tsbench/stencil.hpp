// The sparse matrix of the benchmark, a seven-point stencil on a cube of `side`, row by row in closed form
// (gemm/backend/cuda/kernels/bench_stencil.cuh makes the same one on the device).
#pragma once

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::bench {

struct Stencil {
  index_t side = 1;

  [[nodiscard]] static Stencil of_rows(index_t rows) {
    return {static_cast<index_t>(std::llround(std::cbrt(static_cast<double>(rows))))};
  }
  [[nodiscard]] index_t rows() const noexcept { return side * side * side; }
  [[nodiscard]] index_t entries() const noexcept { return first_entry(rows()); }

  /// The number of the first entry of row i: seven a row, less those beyond each of the six faces before it.
  [[nodiscard]] index_t first_entry(index_t i) const noexcept {
    const index_t layer = side * side, z = i / layer, in_layer = i % layer;
    return 7 * i - std::min(i, layer) - std::max<index_t>(0, i - (rows() - layer)) - 2 * z * side -
           std::min(in_layer, side) - std::max<index_t>(0, in_layer - (layer - side)) -
           (i + side - 1) / side - i / side;
  }

  /// add(column) for each entry of row i, in order.
  template <class Add>
  void row(index_t i, Add&& add) const {
    const index_t layer = side * side, x = i % side, y = i / side % side, z = i / layer;
    if (z > 0) add(i - layer);
    if (y > 0) add(i - side);
    if (x > 0) add(i - 1);
    add(i);
    if (x + 1 < side) add(i + 1);
    if (y + 1 < side) add(i + side);
    if (z + 1 < side) add(i + layer);
  }
};

}  // namespace ts::bench
