// The shift that is factorised: the wanted one, or one beside it. For the .cpp files of this folder alone.
#pragma once

#include <functional>
#include <string>

#include "tallskinny/solvers/eigen/transform/factor_detail.hpp"

namespace ts::solvers::detail {

/// M = A - sigma I (or A - sigma times a mass matrix), factorised.
template <class T, class Shift>
struct ShiftedFactor {
  index_t n = 0;
  bool hermitian = true;
  Shift sigma{};
  std::string note;  ///< empty, or one sentence on a shift that was moved

  ShiftedFactor() = default;
  ShiftedFactor(const ShiftedFactor&) = delete;
  ShiftedFactor& operator=(const ShiftedFactor&) = delete;
  virtual ~ShiftedFactor() = default;
  /// M^-1 b
  [[nodiscard]] virtual Column<T> solve(const Column<T>& b) const = 0;
};

/// Tries sigma, then shifts beside it: `factorise()` is called with body.sigma set. An eigenvalue at the
/// shift would drown all others in the rounding of its huge inverse: the less the farther the shift is from
/// it, but the others should stay where they are as seen from the shift.
/// @throws Error(invalid_argument) when none can be factorised.
template <class T, class Shift>
void settle_shift(ShiftedFactor<T, Shift>& body, Shift sigma, double norm, double mass_norm,
                  const std::function<bool()>& factorise);

}  // namespace ts::solvers::detail
