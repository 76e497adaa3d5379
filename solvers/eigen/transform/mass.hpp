// A x = lambda M x with M Hermitian and positive definite, in standard form.
#pragma once

#include <memory>
#include <optional>

#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// The Cholesky factorisation P M P^T = L L^H of a sparse M, with a fill-reducing order P. With y = L^H P x
/// the pencil A x = lambda M x is C y = lambda y, C = L^-1 P A P^T L^-H: whatever solves Hermitian problems,
/// in any selection and with any verification, solves pencils. T: double or std::complex<double>.
template <class T>
class MassFactor {
 public:
  /// @throws Error(bad_input) unless M is positive definite.
  explicit MassFactor(CsrView<T> mass);
  /// Nothing unless M is positive definite.
  [[nodiscard]] static std::optional<MassFactor> if_definite(const Context& ctx, CsrView<T> own);
  /// The same of rows that are distributed over the ranks of ctx, which make it and use it together, as operators and
  /// blocks by the same rows: rank 0 factorises, and does all steps with L.
  /// @param own this rank's rows, with column numbers of the whole
  MassFactor(const Context& ctx, CsrView<T> own);

  /// L^-1 P A P^T L^-H
  [[nodiscard]] Operator<T> standard(Operator<T> a) const;
  /// (C - sigma I)^-1 = L^H P (A - sigma M)^-1 P^T L, from the inverse of A - sigma M
  [[nodiscard]] Operator<T> standard_inverse(Operator<T> inverse) const;
  /// X = P^T L^-H Y
  void back(const Context& ctx, HostView<const T> y, HostView<T> x) const;
  /// W = L^-1 P R: ||w|| is the norm of r in M^-1.
  void weigh(const Context& ctx, HostView<const T> r, HostView<T> w) const;
  /// The smallest eigenvalue of M, from above, by inverse iteration.
  [[nodiscard]] double least() const noexcept;

  struct Impl;

 private:
  MassFactor() = default;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace ts::inline v0::solvers
