// A - sigma M for any sigma: assembled and analysed once, factorised where it is asked for.
#pragma once

#include <memory>

#include "tallskinny/solvers/direct/direct_solver.hpp"

namespace ts::inline v0::solvers {

/// A - sigma M, factorised. Where the sizes of its rows differ by many orders, the factors are those of
/// S = D (A - sigma M) D with D diagonal: rounding is then small beside every row, and by Sylvester's law the signs of
/// the pivots are the same.
template <class T>
struct FactoredPencil {
  double sigma = 0;
  std::unique_ptr<DirectSolver<T>> solver;
  std::vector<double> scale;  ///< D, powers of two; empty: the identity
  bool stable = false;        ///< solves reproduce their right-hand sides
  /// An estimate of ||E||_F, not below ||E||_2: with these factors a solve is one with A - sigma M + E.
  double error = 0;
  double growth = 0;     ///< ||S|| ||S^-1||, estimated from below
  bool certain = false;  ///< E moves no eigenvalue of S across zero: ||S^-1|| ||E of S|| is far below 1

  /// X = (A - sigma M)^-1 B, in one place, wherever that is.
  /// @param once by the factors alone, to see their error
  void solve(const Context& ctx, PlacedView<const T> b, PlacedView<T> x, bool once = false) const;
};

/// A sparse Hermitian pencil. Copies share what was analysed and factorised; they may be used by one thread at a time.
/// M is Hermitian and positive definite; without rows it stands for the identity. T: double or std::complex<double>.
template <class T>
class ShiftedPencil {
 public:
  /// Copies the matrices.
  /// @throws Error(invalid_argument) unless both are square and of one size.
  explicit ShiftedPencil(CsrView<T> a, CsrView<T> mass = {}, DirectBackend backend = DirectBackend::best,
                         const cuda::Stream& gpu = {});
  /// Of matrices whose rows are distributed over the ranks of ctx, which make it and use it together.
  /// @param a, mass this rank's rows, with column numbers of the whole
  ShiftedPencil(const Context& ctx, CsrView<T> a, CsrView<T> mass = {}, DirectBackend backend = DirectBackend::best,
                const cuda::Stream& gpu = {});

  /// Here.
  [[nodiscard]] index_t rows() const noexcept;
  /// What measures of factors are taken in: that of its ranks, with one thread.
  [[nodiscard]] const Context& context() const noexcept;
  /// The largest absolute row sum of A, and of M: not below their norms.
  [[nodiscard]] double norm_of_a() const noexcept;
  [[nodiscard]] double norm_of_mass() const noexcept;
  /// Of one factorisation; orders and analyses at the first call.
  [[nodiscard]] FactorEstimate estimate() const;
  /// The same in an order that is found soon; flops are inf where they are more than `most_flops`.
  [[nodiscard]] FactorEstimate sketch(double most_flops) const;
  /// The factors at a shift, null where a pivot is zero. Those that were asked for last are kept.
  [[nodiscard]] std::shared_ptr<const FactoredPencil<T>> factorised(double sigma) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ts::inline v0::solvers
