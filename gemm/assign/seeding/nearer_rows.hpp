// Rows that a candidate is nearer to than all centres so far. Internal to the room.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "tallskinny/gemm/assign/scores/bytes.hpp"
#include "tallskinny/gemm/assign/seeding/potential.hpp"

namespace ts::inline v0::assign_detail {

/// A row to which a candidate is nearer, and its squared distance.
template <class S>
struct NearerRow {
  std::int32_t row;
  S squared;
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

/// For each candidate the rows that it is nearer to, in order; some of the others may be among them.
template <class S>
struct NearerRows {
  /// Where those of a candidate lie.
  struct Stretch {
    index_t begin, count;
  };
  std::vector<NearerRow<S>> all;
  std::vector<Stretch> stretches;  ///< one for each candidate

  [[nodiscard]] std::span<const NearerRow<S>> of(index_t candidate) const {
    const Stretch& s = stretches[static_cast<std::size_t>(candidate)];
    return std::span(all).subspan(static_cast<std::size_t>(s.begin), static_cast<std::size_t>(s.count));
  }
};

/// Scores (assign/scores) with a bound on their errors find all pairs of row and candidate that may be closer than
/// what is kept for the row: as fast as a pass of assign(). These pairs, of which there are few, are measured by
/// differences in float64. S: float or double.
template <class S>
class HostNearerRowSearch {
 public:
  /// Of dense rows in host memory, which must outlive the search.
  HostNearerRowSearch(const Context& ctx, const Rows& x, const SeedingUnit& unit) : ctx_(ctx), x_(x), unit_(unit) {}

  /// @param candidates their numbers among the rows. @param squared D_i^2 of each row in the coordinates of the unit.
  [[nodiscard]] NearerRows<S> find(std::span<const index_t> candidates, std::span<const S> squared);

 private:
  const Context& ctx_;
  const Rows& x_;
  const SeedingUnit& unit_;
  Scores scores_ = Scores::int8;  ///< more accurate ones once too many pairs are measured for nothing
  RowsInBytes kept_;
};

extern template class HostNearerRowSearch<float>;
extern template class HostNearerRowSearch<double>;

}  // namespace ts::inline v0::assign_detail
