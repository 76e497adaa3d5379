// Rows that a candidate is nearer to than all centres so far. Internal to the room.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "tallskinny/solvers/kmeans/seeding/potential.hpp"

namespace ts::inline v0::assign_detail {

/// A row to which a candidate is nearer, and its squared distance.
struct NearerRow {
  std::int32_t row;
  double squared;
};

/// w D^2 in whole numbers of a unit, so that sums are the same in any order: a processor and a GPU make the same
/// choices.
class PotentialUnit {
 public:
  PotentialUnit() = default;
  /// A power of two, in which as many rows of at most so much have less than 2^62 together.
  PotentialUnit(double most, index_t rows) {
    constexpr int most_power = 1000;
    const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows)));
    if (most > 0) in_ = std::ldexp(1, std::min(61 - std::ilogb(most) - bits, most_power));
  }

  [[nodiscard]] std::int64_t units(double weight, double squared) const noexcept {
    return static_cast<std::int64_t>(weight * squared * in_);
  }
  [[nodiscard]] double value(std::int64_t units) const noexcept { return static_cast<double>(units) / in_; }

 private:
  double in_ = 1;
};

/// For each candidate the rows that it is nearer to, each once.
struct NearerRows {
  std::vector<NearerRow> all;
  std::vector<index_t> begin;  ///< of each candidate's, and the end of the last

  [[nodiscard]] std::span<const NearerRow> of(index_t candidate) const {
    const index_t first = begin[at(candidate)];
    return {all.data() + first, at(begin[at(candidate) + 1] - first)};
  }
};

class NearerOnLine;

/// Scores (assign/scores) with a bound on their errors find all pairs of row and candidate that may be closer than
/// what is kept for the row: as fast as a pass of assign(). These pairs, of which there are few, are measured by
/// differences in float64. Rows of one column are searched on the line (nearer_line.hpp).
class HostNearerRowSearch {
 public:
  /// Prepares a search among dense rows in host memory, which must outlive it.
  HostNearerRowSearch(const Context& ctx, const Rows& x, const ColumnMoments& moments);
  ~HostNearerRowSearch();

  /// @param candidates their numbers among the rows. @param squared D_i^2 of each row.
  [[nodiscard]] NearerRows find(std::span<const index_t> candidates, std::span<const double> squared);

 private:
  const Context& ctx_;
  const Rows& x_;
  const ColumnMoments& moments_;
  std::unique_ptr<const NearerOnLine> line_;  ///< of rows of one column
  Scores scores_ = Scores::int16;             ///< more accurate ones once too many pairs are measured for nothing
};

}  // namespace ts::inline v0::assign_detail
