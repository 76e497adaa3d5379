// Several products with one sparse matrix in one pass: what host code and kernels both know.
//
// The columns of a row lie near its diagonal. Threads or blocks of them take tiles of rows by tickets, in an order in
// which product k comes to a tile `lag` tiles behind product k - 1: what it reads is finished, and still in the cache
// (temporal blocking by a wavefront: Wellein, Hager, Zeiser, Wittmann, Fehske 2009; for powers of a sparse matrix
// Alappat, Hager, Schenk, Wellein 2023).
#pragma once

#include "tallskinny/gemm/core/dtype.hpp"

namespace ts {

/// `count` products Y = alpha (A - shift I) X + beta Y, after each of which X and Y change places.
struct SpmmSteps {
  int count = 1;
  index_t tiles = 0;             ///< rows that are taken at a time
  index_t lag = 0;               ///< at least (reach + 1) group
  int group = 1;                 ///< tiles that count together what is finished
  index_t reach = 0;             ///< groups on both sides of its own in which the columns of a row lie
  unsigned* counters = nullptr;  ///< of a kernel, all 0: next ticket, blocks that ended, tiles finished of each group

  struct Item {
    int step;
    index_t tile;  ///< none where it is below 0, or not below `tiles`
  };
  [[nodiscard]] constexpr index_t tickets() const noexcept { return (tiles + (count - 1) * lag) * count; }
  [[nodiscard]] constexpr Item item(index_t ticket) const noexcept {
    const int step = static_cast<int>(ticket % count);
    return {step, ticket / count - step * lag};
  }
  [[nodiscard]] constexpr index_t groups() const noexcept { return (tiles + group - 1) / group; }
  /// Of group g.
  [[nodiscard]] constexpr unsigned tiles_of(index_t g) const noexcept {
    return static_cast<unsigned>(tiles - g * group < group ? tiles - g * group : group);
  }
  /// For so many products, on tiles of which `workers` are worked on at any time: so far apart that none waits.
  [[nodiscard]] constexpr SpmmSteps of(int products, index_t workers) const noexcept {
    SpmmSteps s = *this;
    s.count = products, s.lag = (reach + 1) * group + (workers + products - 1) / products;
    return s;
  }
  /// Rows that lie between the first product and the last.
  [[nodiscard]] constexpr index_t rows_between(index_t tile, index_t workers) const noexcept {
    return ((count - 1) * lag + workers) * tile;
  }
};

/// Of a matrix whose columns are at most `reach` away from the diagonal, in tiles of `tile` rows and groups of at least
/// `group` tiles, at most `most` of them.
[[nodiscard]] constexpr SpmmSteps spmm_steps_of(index_t rows, index_t reach, index_t tile, index_t group,
                                                index_t most) noexcept {
  SpmmSteps s;
  s.tiles = (rows + tile - 1) / tile;
  const index_t least = (s.tiles + most - 1) / most;
  s.group = static_cast<int>(group > least ? group : least);
  s.reach = (reach + s.group * tile - 1) / (s.group * tile);
  return s;
}

}  // namespace ts
