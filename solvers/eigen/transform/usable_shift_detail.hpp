// The shift that is factorised: the wanted one, or one beside it. For the .cpp files of this folder alone.
#pragma once

#include <functional>

#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"

namespace ts::inline v0::solvers::detail {

/// Y = B X for a block X, on one thread or on many.
template <class T>
using BlockMap = std::function<void(const Context&, HostView<const T> x, HostView<T> y)>;

/// ||B||_2 from below, by three steps of power iteration with an operator of n rows here; inf where it is not finite.
template <class T>
[[nodiscard]] double norm_from_below(const Context&, index_t n, const BlockMap<T>& b);

/// Tries sigma, then shifts beside it: `factorise()` is called with factor.sigma set. An eigenvalue at the
/// shift would drown all others in the rounding of its huge inverse: the less the farther the shift is from
/// it, but the others should stay where they are as seen from the shift.
/// @throws Error(invalid_argument) when none can be factorised.
template <class T, class Shift>
void find_usable_shift(const Context&, ShiftedFactor<T, Shift>& factor, Shift sigma, double norm, double mass_norm,
                       const std::function<bool()>& factorise);

}  // namespace ts::inline v0::solvers::detail
