// Seeding for rows in device memory. The arguments were checked.
#pragma once

#include "tallskinny/solvers/kmeans/seeding/potential.hpp"

namespace ts::inline v0::assign_device {

void lower_potential(const Context& ctx, const PotentialArguments& of);
std::vector<index_t> keep_rows(const Context& ctx, PerRow<const double> squared, PerRow<const double> weights,
                               double factor, const Philox& random, index_t first_row);
ChosenRows choose_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<double> squared,
                       PerRow<const double> weights, const Choosing& how);
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out);
/// As they are, or, with a shift, as (x - shift) scale.
template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, S* out,
                 std::span<const double> shift = {}, double scale = 1);

}  // namespace ts::inline v0::assign_device
