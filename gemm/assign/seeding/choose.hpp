// Greedy k-means++ on rows in host memory. Internal to the room.
#pragma once

#include "tallskinny/gemm/assign/seeding/potential.hpp"

namespace ts::assign_detail {

/// choose_rows() of dense rows, whose arguments were checked.
///
/// Rows are drawn many at a time by what D^2 is then. When the turn of one comes, it is taken with the probability
/// D^2 now / D^2 then, so that it is a draw by D^2 now. Thus many candidates meet all rows at once.
/// Bits do not depend on threads.
template <class S>
ChosenRows choose_rows(const Context& ctx, const Rows& x, const SeedingUnit& unit, PerRow<S> squared,
                       PerRow<const double> weights, const Choosing& how);

extern template decltype(choose_rows<float>) choose_rows<float>;
extern template decltype(choose_rows<double>) choose_rows<double>;

}  // namespace ts::assign_detail
