// The filters that leave products out of a pass, and the costs of passes on a device with them.
#pragma once

#include <algorithm>
#include <string_view>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0 {

/// Labels are the same with each. `rows`: bounds of each row (RowBounds). `groups`: bounds of each row and group of
/// centroids (GroupBounds). On a device `projection`: a few columns along axes (ProjectionFilter); `tiles`: bounds of
/// tiles of rows (TileBounds).
enum class PassFilter { none, rows, groups, projection, tiles };

[[nodiscard]] constexpr std::string_view name_of(PassFilter filter) noexcept {
  constexpr std::string_view names[] = {"none", "rows", "groups", "projection", "tiles"};
  return names[static_cast<int>(filter)];
}

/// Milliseconds of passes on a device, as far as these decide them; shares are of all pairs of a row and a centroid.
struct FilterCosts {
  double all = 0;             ///< a pass over all centroids
  double projections = 0;     ///< a choice by projections
  double by_projections = 0;  ///< and scores in lists
  double bounds = 0;          ///< a choice by bounds of tiles
  double by_bounds = 0;       ///< and scores in lists, which leave bounds

  [[nodiscard]] bool has_projections() const noexcept { return by_projections > 0; }
  [[nodiscard]] bool has_bounds() const noexcept { return by_bounds > 0; }
  [[nodiscard]] double with_projections(double share) const noexcept { return projections + share * by_projections; }
  [[nodiscard]] double with_bounds(double share) const noexcept { return bounds + share * by_bounds; }
  /// The first pass with bounds: over all centroids, or those that projections leave with a margin, about three times
  /// as many as without.
  [[nodiscard]] double making_bounds(double share_of_projections) const noexcept {
    return has_projections() ? projections + with_bounds(std::min(1.0, 3 * share_of_projections)) : with_bounds(1);
  }
};

}  // namespace ts::inline v0
