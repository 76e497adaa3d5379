// Rows in host memory that a candidate is nearer to than all centres so far. Internal to the room.
#pragma once

#include <span>
#include <vector>

#include "tallskinny/gemm/assign/seeding/potential.hpp"

namespace ts::assign_detail {

/// A row to which a candidate is nearer, and its squared distance.
template <class S>
struct NearerRow {
  index_t row;
  S squared;
};

/// For each candidate the rows that it is nearer to, in order.
template <class S>
struct NearerRows {
  std::vector<NearerRow<S>> all;
  std::vector<index_t> begin;  ///< one for each candidate, and the end

  [[nodiscard]] std::span<const NearerRow<S>> of(index_t candidate) const {
    const auto q = static_cast<std::size_t>(candidate);
    return std::span(all).subspan(static_cast<std::size_t>(begin[q]),
                                  static_cast<std::size_t>(begin[q + 1] - begin[q]));
  }
};

/// Scores (assign/scores) with a bound on their errors find all pairs of row and candidate that may be closer than
/// what is kept for the row: as fast as a pass of assign(). These pairs, of which there are few, are measured by
/// differences in float64. S: float or double.
template <class S>
class NearerRowSearch {
 public:
  /// Of dense rows in host memory; all of these must outlive the search.
  NearerRowSearch(const Context& ctx, const Rows& x, const SeedingUnit& unit) : ctx_(ctx), x_(x), unit_(unit) {}

  /// @param candidates rows of x. @param squared D_i^2 of each row in the coordinates of the unit.
  [[nodiscard]] NearerRows<S> find(HostView<const double> candidates, std::span<const S> squared);

 private:
  const Context& ctx_;
  const Rows& x_;
  const SeedingUnit& unit_;
  Scores scores_ = Scores::int16;  ///< more accurate ones once too many pairs are measured for nothing
};

extern template class NearerRowSearch<float>;
extern template class NearerRowSearch<double>;

}  // namespace ts::assign_detail
