// (A^H A + delta^2 I)^-1 through a factorisation that squares nothing: where small singular values are large.
#pragma once

#include "tallskinny/solvers/direct/direct_solver.hpp"
#include "tallskinny/solvers/eigen/transform/inertia.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// For a sparse m x n matrix A, by factors of K = [delta I, A; A^H, -delta I], whose condition is that of A
/// with singular values below delta raised to delta. Source: Bjorck, Numerical Methods for Least Squares
/// Problems, 2.5.3 (the augmented system and its scaling). Copies share factors. T: double or std::complex<double>.
template <class T>
class InverseGram {
 public:
  /// @throws Error(invalid_argument) when K cannot be factorised.
  InverseGram(CsrView<T> a, double delta);
  /// Size of factors of K.
  [[nodiscard]] static FactorEstimate estimate(CsrView<T> a);
  /// Estimate of the factors that were made.
  [[nodiscard]] FactorEstimate factors() const { return pencil_.estimate(); }

  [[nodiscard]] index_t rows() const noexcept { return n_; }
  /// Y = (A^H A + delta^2 I)^-1 X
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const;
  /// A (A^H A + delta^2 I)^-1 X: for right singular vectors X multiples of their left ones.
  [[nodiscard]] Matrix<T> left_of(const Context& ctx, HostView<const T> x) const;
  /// (A A^H + delta^2 I)^-1 Y
  [[nodiscard]] Matrix<T> left_inverse(const Context& ctx, HostView<const T> y) const;
  /// Singular values below a number, by the inertia of [0, A; A^H, 0].
  [[nodiscard]] CountBelow count_below() const;

 private:
  /// K^-1 [upper; lower], of which either may be left out (zero).
  [[nodiscard]] Matrix<T> solve(const Context& ctx, const HostView<const T>* upper,
                                const HostView<const T>* lower) const;

  index_t m_, n_;
  double delta_;
  ShiftedPencil<T> pencil_;
  ShiftInvert<T> inverse_;
  InertiaCounter<T> count_;
};

}  // namespace ts::inline v0::solvers
