// Seeding for rows in device memory. The arguments were checked.
#pragma once

#include "tallskinny/gemm/assign/seeding/potential.hpp"

namespace ts::inline v0::assign_device {

/// Whether rows of x need not come to the host to be candidates.
template <class S>
[[nodiscard]] bool takes_rows(const PotentialArguments<S>& of);
template <class S>
void lower_potential(const Context& ctx, const PotentialArguments<S>& of);
template <class S>
void potential_with(const Context& ctx, const Rows& x, const SeedingUnit& unit, HostView<const double> candidates,
                    PerRow<const S> squared, PerRow<const double> weights, HostView<double> totals);
template <class S>
std::vector<index_t> draw_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights,
                               std::span<const SeedingDraw> draws);
template <class S>
std::vector<index_t> keep_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights, double factor,
                               const Philox& random, index_t first_row);
template <class S>
ChosenRows choose_rows(const Context& ctx, const Rows& x, const SeedingUnit& unit, PerRow<S> squared,
                       PerRow<const double> weights, const Choosing& how);
std::vector<std::uint64_t> count_numbers(const Context& ctx, PerRow<const std::int32_t> numbers, index_t count);
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out);
template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<S> out);
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<double> out,
                 const SeedingUnit& unit);

}  // namespace ts::inline v0::assign_device

// The same functions for rows in host memory (namespace ts) and here, for each type of squared distances.
#define TS_INSTANTIATE_POTENTIAL(S)                         \
  template decltype(lower_potential<S>) lower_potential<S>; \
  template decltype(potential_with<S>) potential_with<S>;   \
  template decltype(draw_rows<S>) draw_rows<S>;             \
  template decltype(keep_rows<S>) keep_rows<S>;             \
  template decltype(gather_rows<S>) gather_rows<S>;
