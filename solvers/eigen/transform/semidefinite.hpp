// A x = lambda M x with M Hermitian and positive semidefinite, of lower rank than it has rows or near to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tallskinny/solvers/eigen/transform/pencil.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// M = L L^H of a sparse M, with L n x rank. T: double or std::complex<double>.
template <class T>
class SemidefiniteMass {
 public:
  /// Cholesky factorisation that leaves out columns whose pivots are zero to rounding.
  /// @throws Error(bad_input) where M is indefinite.
  explicit SemidefiniteMass(CsrView<T> mass);

  [[nodiscard]] index_t rows() const noexcept { return n_; }
  [[nodiscard]] index_t rank() const noexcept { return static_cast<index_t>(starts_.size()) - 1; }
  /// X = L Y
  void apply(HostView<const T> y, HostView<T> x) const;
  /// Y = L^H X
  void apply_adjoint(HostView<const T> x, HostView<T> y) const;

 private:
  index_t n_;
  std::vector<index_t> starts_ = {0};  ///< of the columns of L
  std::vector<std::int32_t> rows_;
  std::vector<T> values_;
};

/// The pencil. With y = L^H x its finite eigenpairs are those of B = L^H (A - sigma M)^-1 L, B y = y / (lambda - sigma)
/// with the same y for every sigma; to infinite ones belongs 0 (Meerbergen and Spence 1997). Both matrices must outlive
/// it.
template <class T>
struct SemidefinitePencil {
  Operator<T> a, mass;
  ShiftedPencil<T> shifts;
  std::shared_ptr<const SemidefiniteMass<T>> factor;

  /// The number of negative eigenvalues of A - t M, nothing where the error of its factors could have moved one across
  /// zero. It does not fall with t; between two t it rises by the number of eigenvalues there.
  [[nodiscard]] std::optional<index_t> negative(double t) const;
  /// How many eigenvalues are infinite at least.
  [[nodiscard]] index_t infinite() const noexcept { return factor->rows() - factor->rank(); }
};

}  // namespace ts::inline v0::solvers
