// (A^H A + delta^2 I)^-1 through a factorisation that squares nothing: where small singular values are large.
#pragma once

#include <memory>

#include "tallskinny/solvers/direct/direct_solver.hpp"
#include "tallskinny/solvers/eigen/transform/inertia.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// For a sparse m x n matrix A, by factors of K = [delta I, A; A^H, -delta I], whose condition is that of A
/// with singular values below delta raised to delta. Source: Bjorck, Numerical Methods for Least Squares
/// Problems, 2.5.3 (the augmented system and its scaling). T: double or std::complex<double>.
template <class T>
class InverseGram {
 public:
  /// @throws Error(invalid_argument) when K cannot be factorised.
  InverseGram(CsrView<T> a, double delta);
  /// What factors of K take.
  [[nodiscard]] static FactorEstimate estimate(CsrView<T> a);
  /// The same of those that were made.
  [[nodiscard]] FactorEstimate factors() const;

  [[nodiscard]] index_t rows() const noexcept;
  /// Y = (A^H A + delta^2 I)^-1 X
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const;
  /// A (A^H A + delta^2 I)^-1 X: for right singular vectors X multiples of their left ones.
  [[nodiscard]] Matrix<T> left_of(const Context& ctx, HostView<const T> x) const;
  /// (A A^H + delta^2 I)^-1 Y
  [[nodiscard]] Matrix<T> left_inverse(const Context& ctx, HostView<const T> y) const;
  /// Singular values below a number, by the inertia of [0, A; A^H, 0].
  [[nodiscard]] CountBelow count_below() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace ts::inline v0::solvers
