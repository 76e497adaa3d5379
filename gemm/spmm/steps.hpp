// Several products with one sparse matrix in one pass.
//
// The columns of a row lie near its diagonal. Each thread has a domain of neighbouring tiles of rows, through which it
// goes in an order in which product k comes to a tile `lag` tiles behind product k - 1: what it reads is finished, and
// still in the cache (temporal blocking by a wavefront: Wellein, Hager, Zeiser, Wittmann, Fehske 2009; for powers of a
// sparse matrix Alappat, Hager, Schenk, Wellein 2023). Every second domain is gone through backwards, so that threads
// come to the border of two domains at the same time.
#pragma once

#include <algorithm>
#include <span>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0 {

/// The rows that a step computes.
struct StepRows {
  index_t begin = 0, end = 0;
  [[nodiscard]] constexpr index_t count() const noexcept { return end - begin; }
  friend constexpr bool operator==(const StepRows&, const StepRows&) = default;
};

/// `count` products Y = alpha (A - shift I) X + beta Y, after each of which X and Y change places.
struct SpmmSteps {
  int count = 1, domains = 1;
  index_t tile = 1;  ///< rows that are taken at a time
  index_t tiles = 0;
  index_t reach = 0;  ///< tiles on both sides of its own in which the columns of a row lie
  index_t lag = 2;    ///< at least reach + 2, so that all that an item needs stands in earlier places
  index_t rows = 0;
  std::span<const StepRows> some = {};  ///< rows of each product; none: all rows

  struct Item {
    int step;
    index_t tile;  ///< -1: none
  };
  [[nodiscard]] constexpr index_t begin(int domain) const noexcept { return tiles * domain / domains; }
  /// The places in the order of a domain.
  [[nodiscard]] constexpr index_t places(int domain) const noexcept {
    return (begin(domain + 1) - begin(domain) + (count - 1) * lag) * count;
  }
  [[nodiscard]] constexpr Item item(int domain, index_t place) const noexcept {
    const int step = static_cast<int>(place % count);
    const index_t away = place / count - step * lag, first = begin(domain), end = begin(domain + 1);
    if (away < 0 || away >= end - first) return {step, -1};
    return {step, domain % 2 == 0 ? first + away : end - 1 - away};
  }
  /// Of a product.
  [[nodiscard]] constexpr StepRows rows_of(int step) const noexcept {
    return some.empty() ? StepRows{0, rows} : some[static_cast<std::size_t>(step)];
  }
  [[nodiscard]] constexpr StepRows rows_of(const Item& item) const noexcept {
    const StepRows all = rows_of(item.step);
    return {std::max(all.begin, item.tile * tile), std::min(all.end, (item.tile + 1) * tile)};
  }
  /// For so many products, of some rows each.
  [[nodiscard]] constexpr SpmmSteps of(int products, std::span<const StepRows> some_rows = {}) const noexcept {
    SpmmSteps s = *this;
    s.count = products, s.some = some_rows;
    return s;
  }
};

/// Of a matrix whose columns are at most `reach` away from the diagonal, in tiles of `tile` rows.
[[nodiscard]] constexpr SpmmSteps spmm_steps_of(index_t rows, index_t reach, index_t tile, int domains) noexcept {
  SpmmSteps s;
  s.domains = domains, s.tile = tile, s.rows = rows;
  s.tiles = (rows + tile - 1) / tile, s.reach = (reach + tile - 1) / tile, s.lag = s.reach + 2;
  return s;
}

}  // namespace ts::inline v0
