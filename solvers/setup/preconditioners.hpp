// Hermitian positive definite operators near the inverse of a matrix, for LOBPCG and Davidson.
#pragma once

#include <memory>
#include <vector>

#include "tallskinny/solvers/eigen/values/options.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// sign A + shift I, whose smallest eigenvalues stand at the wanted end of A.
struct WantedEnd {
  double sign = 1, shift = 0;
};

/// A or -A as it is where its diagonal is positive (it may then be definite), otherwise shifted by
/// Gershgorin's bound. `which` is SA or LA. `diagonal` is that of A, `low` and `high` bound its spectrum; on several
/// ranks as far as the rows here tell.
[[nodiscard]] WantedEnd positive_end(const Context&, const std::vector<double>& diagonal, double low, double high,
                                     Which);

/// The inverse of a positive diagonal, as a matrix on the host and on the device of ctx.stream if it has one; elements
/// below u times the largest, of all ranks, count as that.
template <class T>
[[nodiscard]] Operator<T> jacobi(const Context& ctx, const std::vector<double>& diagonal);

/// (L L^H)^-1 of an incomplete Cholesky factorisation of sign A + shift I on the pattern of A, reordered and
/// scaled. Where it breaks down the diagonal grows until it does not. Source: Lin and More 1999, as Eigen's
/// IncompleteCholesky. T: double or std::complex<double>.
template <class T>
class IncompleteCholesky {
 public:
  /// @throws Error(invalid_argument) when no factorisation was found.
  IncompleteCholesky(CsrView<T> a, WantedEnd end);
  [[nodiscard]] index_t rows() const noexcept;
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// p(A) near (A - a)^-1, a at the wanted end: `degree` steps of the Chebyshev semi-iteration from zero, best
/// for what lies away from a by more than (b - a) / degree^2, b the other end of the spectrum. Both ends are
/// estimated by a few Lanczos steps. Needs nothing but products; p is positive on the whole spectrum. Source:
/// Saad 2003, Iterative Methods for Sparse Linear Systems, algorithm 12.1.
template <class T>
class ChebyshevInverse {
 public:
  ChebyshevInverse(const Context&, Operator<T> a, Which which, index_t degree = 10, std::uint64_t seed = 0);
  [[nodiscard]] index_t rows() const { return a_.rows(); }
  [[nodiscard]] Space space() const { return a_.space(); }
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const;

 private:
  Operator<T> a_;
  WantedEnd end_;
  double low_ = 0, high_ = 1;  ///< what is damped, of sign A + shift I
  index_t degree_;
};

}  // namespace ts::inline v0::solvers
