// Seeding for rows in device memory. The arguments were checked.
#pragma once

#include "tallskinny/gemm/assign/seeding/potential.hpp"

namespace ts::inline v0::assign_device {

void lower_potential(const Context& ctx, const PotentialArguments& of);
std::vector<index_t> keep_rows(const Context& ctx, PerRow<const double> squared, PerRow<const double> weights,
                               double factor, const Philox& random, index_t first_row);
ChosenRows choose_rows(const Context& ctx, const Rows& x, const SeedingUnit& unit, PerRow<double> squared,
                       PerRow<const double> weights, const Choosing& how);
std::vector<std::uint64_t> count_numbers(const Context& ctx, PerRow<const std::int32_t> numbers, index_t count);
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out);
/// @param unit or null: rows as they are
template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, const SeedingUnit* unit, S* out);

}  // namespace ts::inline v0::assign_device
