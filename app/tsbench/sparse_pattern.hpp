// The sparse matrices of the benchmark, row by row in closed form (app/tsbench/kernels/bench_sparse.cuh
// makes the same ones on the device).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::bench {

enum class Pattern {
  stencil,  ///< seven points on a cube: neighbouring rows meet neighbouring rows of X, and some far away
  band,     ///< 17 entries a row around the diagonal: each row of X is met again at once
  random,   ///< 16 entries a row anywhere: little of X is met again soon
};

struct SparsePattern {
  Pattern kind = Pattern::stencil;
  index_t rows = 1;  ///< of a square matrix; of a stencil, a cube

  static constexpr index_t band_width = 17, random_count = 16;

  /// The largest matrix of at most so many rows.
  [[nodiscard]] static SparsePattern of_rows(Pattern kind, double rows) {
    if (kind != Pattern::stencil) return {kind, std::max<index_t>(band_width, static_cast<index_t>(rows))};
    const auto side = std::max<index_t>(1, static_cast<index_t>(std::cbrt(rows)));
    return {kind, side * side * side};
  }
  [[nodiscard]] static constexpr double entries_a_row(Pattern kind) noexcept {
    return kind == Pattern::stencil ? 7 : kind == Pattern::band ? band_width : random_count;
  }
  /// Of the cube of a stencil.
  [[nodiscard]] index_t side() const {
    return static_cast<index_t>(std::llround(std::cbrt(static_cast<double>(rows))));
  }
  [[nodiscard]] index_t entries() const { return first_entry(rows); }

  /// The number of the first entry of row i.
  [[nodiscard]] index_t first_entry(index_t i) const {
    if (kind == Pattern::band) return band_width * i;
    if (kind == Pattern::random) return random_count * i;
    // Seven a row, less those beyond each of the six faces before it.
    const index_t s = side(), layer = s * s, z = i / layer, in_layer = i % layer;
    return 7 * i - std::min(i, layer) - std::max<index_t>(0, i - (rows - layer)) - 2 * z * s - std::min(in_layer, s) -
           std::max<index_t>(0, in_layer - (layer - s)) - (i + s - 1) / s - i / s;
  }

  /// add(column) for each entry of row i, in order.
  template <class Add>
  void row(index_t i, Add&& add) const {
    if (kind == Pattern::band) {
      const index_t first = std::clamp<index_t>(i - band_width / 2, 0, rows - band_width);
      for (index_t k = 0; k < band_width; ++k) add(first + k);
    } else if (kind == Pattern::random) {
      // One in each sixteenth of the columns.
      const index_t part = rows / random_count;
      for (index_t k = 0; k < random_count; ++k)
        add(k * part + static_cast<index_t>(mixed(static_cast<std::uint64_t>(random_count * i + k)) %
                                            static_cast<std::uint64_t>(part)));
    } else {
      const index_t s = side(), layer = s * s, x = i % s, y = i / s % s, z = i / layer;
      if (z > 0) add(i - layer);
      if (y > 0) add(i - s);
      if (x > 0) add(i - 1);
      add(i);
      if (x + 1 < s) add(i + 1);
      if (y + 1 < s) add(i + s);
      if (z + 1 < s) add(i + layer);
    }
  }

 private:
  /// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): evenly spread numbers from consecutive ones.
  [[nodiscard]] static std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
};

}  // namespace ts::bench
