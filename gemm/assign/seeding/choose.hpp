// Greedy k-means++. Internal to the room.
#pragma once

#include "tallskinny/gemm/assign/seeding/nearer_rows.hpp"

namespace ts::inline v0::assign_detail {

/// choose_rows() of rows among which `search` finds those that candidates are nearer to: `squared` (lowered) and
/// `weights` (or none) of each are in host memory. It ends early where the search does not find them.
///
/// Rows are drawn many at a time by what D^2 is then. When the turn of one comes, it is taken with the probability
/// D^2 now / D^2 then, so that it is a draw by D^2 now. Thus many candidates meet all rows at once, and where the
/// search has a depth of 2 the next ones do while choices are made among these.
/// Bits do not depend on threads.
template <class S>
ChosenRows choose_rows(const Context& ctx, NearerRowSearch<S>& search, std::span<S> squared,
                       std::span<const double> weights, const Choosing& how);

extern template decltype(choose_rows<float>) choose_rows<float>;
extern template decltype(choose_rows<double>) choose_rows<double>;

}  // namespace ts::inline v0::assign_detail
