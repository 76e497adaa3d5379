// Chebyshev polynomials of an operator.
#pragma once

#include <memory>
#include <optional>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// Y = T_d((A - centre I) / half_width) X by the three-term recurrence T_{k+1}(x) = 2 x T_k(x) - T_{k-1}(x):
/// d applications of A, no inner product. Keeps up to two blocks of memory between calls, so that copies of
/// one filter must not apply at the same time. T: one of the four result types.
template <class T>
class ChebyshevFilter {
 public:
  ChebyshevFilter(Operator<T> a, const SpectralTransform& transform)
      : a_(std::move(a)), transform_(transform), memory_(std::make_shared<Memory>()) {}
  [[nodiscard]] index_t rows() const { return a_.rows(); }
  [[nodiscard]] Space space() const { return a_.space(); }
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const;

 private:
  void step(const Context& ctx, double on_a, double on_x, PlacedView<const T> x, double on_y, PlacedView<T> y) const;

  struct Memory {
    PlacedMatrix<T> beside, w;
  };
  Operator<T> a_;
  SpectralTransform transform_;
  std::shared_ptr<Memory> memory_;
};

/// The filter that is worth its while, or nothing: damps from the Ritz value `edge` to `far`, with a degree
/// that lifts the value at the end of the spectrum, `leading`, to about cosh(4), but of no more than
/// `longest`.
[[nodiscard]] std::optional<SpectralTransform> choose_filter(double leading, double edge, double far, index_t longest);

}  // namespace ts::inline v0::solvers
