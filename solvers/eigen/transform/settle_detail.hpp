// The shift that is factorised: the wanted one, or one beside it. For the .cpp files of this folder alone.
#pragma once

#include <functional>

#include "tallskinny/solvers/eigen/transform/factor_detail.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"

namespace ts::solvers::detail {

/// One that solves column by column.
template <class T, class Shift>
struct ShiftedFactor : ShiftedBody<T, Shift> {
  bool hermitian = true;
  /// M^-1 b
  [[nodiscard]] virtual Column<T> solve(const Column<T>& b) const = 0;
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const override {
    apply_columns<T>(
        ctx, [this](const Column<T>& b) { return solve(b); }, x, y);
  }
};

/// Tries sigma, then shifts beside it: `factorise()` is called with body.sigma set. An eigenvalue at the
/// shift would drown all others in the rounding of its huge inverse: the less the farther the shift is from
/// it, but the others should stay where they are as seen from the shift.
/// @throws Error(invalid_argument) when none can be factorised.
template <class T, class Shift>
void settle_shift(ShiftedFactor<T, Shift>& body, Shift sigma, double norm, double mass_norm,
                  const std::function<bool()>& factorise);

}  // namespace ts::solvers::detail
