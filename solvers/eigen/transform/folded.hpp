// (A - c I)^2: what lies nearest to c becomes the low end of the spectrum.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// Y = (A - c I)^2 X for a Hermitian A: two applications, no factorisation. Source: Wang and Zunger 1994,
/// "Solving Schroedinger's equation around a desired energy" (the folded spectrum method).
template <class T>
class FoldedOperator {
 public:
  FoldedOperator(Operator<T> a, double centre) : a_(std::move(a)), centre_(centre) {}
  [[nodiscard]] index_t rows() const { return a_.rows(); }
  [[nodiscard]] Space space() const { return a_.space(); }
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const;
  [[nodiscard]] OperatorFacts facts() const {
    const auto of_a = a_.facts();
    const double farthest = std::max(std::abs(of_a.low - centre_), std::abs(of_a.high - centre_));
    return {of_a.entries < 0 ? -1 : 2 * of_a.entries, 0, farthest * farthest};
  }

 private:
  /// Y = (A - c I) X.
  void shifted(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const;

  Operator<T> a_;
  double centre_;
};

}  // namespace ts::inline v0::solvers
