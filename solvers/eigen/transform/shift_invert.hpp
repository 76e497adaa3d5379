// (A - sigma M)^-1 as an operator, through a factorisation, and counts of eigenvalues by inertia. M is
// Hermitian and positive definite; without rows it stands for the identity.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tallskinny/solvers/eigen/transform/pencil.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// A - sigma M, factorised.
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
  /// Y = (A - sigma M)^-1 X, in one place, wherever that is
  virtual void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const = 0;
  /// Y = (A - sigma M)^-H X likewise
  virtual void apply_adjoint(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const { apply(ctx, x, y); }
  /// How much larger than 1 / ||A - sigma M|| the inverse is, of rows brought to one size; 0: not known.
  [[nodiscard]] virtual double growth() const { return 0; }
};

/// (A - sigma M)^-1 by a factorisation. Where sigma is an eigenvalue to rounding, it is moved by a small share
/// of ||A|| and `note` says so. T: double or std::complex<double>.
template <class T, class Shift = double>
class FactoredInverse {
 public:
  [[nodiscard]] index_t rows() const noexcept { return factor_->n; }
  /// Y = (A - sigma M)^-1 X
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const { factor_->apply(ctx, x, y); }
  /// The shift that was factorised.
  [[nodiscard]] Shift sigma() const noexcept { return factor_->sigma; }
  /// Empty, or one sentence on a shift that was moved.
  [[nodiscard]] const std::string& note() const noexcept { return factor_->note; }

 protected:
  FactoredInverse() = default;
  std::shared_ptr<const ShiftedFactor<T, Shift>> factor_;
};

/// Of a sparse Hermitian pencil, by a direct solver: L D L^H with a fill-reducing order.
template <class T>
class ShiftInvert : public FactoredInverse<T> {
 public:
  /// @throws Error(invalid_argument) when no shift near sigma can be factorised.
  ShiftInvert(const ShiftedPencil<T>& pencil, double sigma);
  ShiftInvert(CsrView<T> a, double sigma, CsrView<T> mass = {}) : ShiftInvert(ShiftedPencil<T>(a, mass), sigma) {}
};

/// Of a dense Hermitian A, by LU with pivoting.
template <class T>
class DenseShiftInvert : public FactoredInverse<T> {
 public:
  /// @throws Error(invalid_argument) when no shift near sigma can be factorised.
  DenseShiftInvert(HostView<const T> a, double sigma, CsrView<T> mass = {});
};

/// Of a matrix that need not be Hermitian, sparse or dense, without a mass matrix, by LU with pivoting; a real
/// one takes a real shift.
template <class T>
class GeneralInverse : public FactoredInverse<T, T> {
 public:
  /// @throws Error(invalid_argument) when no shift near sigma can be factorised.
  GeneralInverse(CsrView<T> a, T sigma, const cuda::Stream& gpu = {});
  [[nodiscard]] static FactorEstimate estimate(CsrView<T> a);
  GeneralInverse(HostView<const T> a, T sigma);

  /// (A - sigma I)^-H by the same factors.
  class Adjoint {
   public:
    explicit Adjoint(const GeneralInverse& of) : factor_(of.factor_) {}
    [[nodiscard]] index_t rows() const noexcept { return factor_->n; }
    void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const { factor_->apply_adjoint(ctx, x, y); }

   private:
    std::shared_ptr<const ShiftedFactor<T, T>> factor_;
  };
};

/// Counts eigenvalues of a sparse Hermitian pencil (A, M) below shifts, by the signs of D in
/// A - shift M = L D L^H (Sylvester's law of inertia). A count is given only when the factors reproduce the matrix well
/// enough for it to hold.
template <class T>
class InertiaCounter {
 public:
  /// @param flop_limit a factorisation that needs more gives no counts; 0: no limit.
  /// @param mass_least an estimate of the smallest eigenvalue of M: MassFactor<T>::least().
  InertiaCounter(ShiftedPencil<T> pencil, double flop_limit, double mass_least = 1);
  InertiaCounter(CsrView<T> a, double flop_limit, CsrView<T> mass = {}, double mass_least = 1);

  /// The number of eigenvalues below `shift`, given that none is nearer to it than `clearance`; nothing when
  /// that is less than the measured error of the factorisation, unless the factors tell themselves that none is so
  /// near that the error matters. With `clearance` 0 only then.
  [[nodiscard]] std::optional<index_t> operator()(double shift, double clearance) const;

 private:
  ShiftedPencil<T> pencil_;
  double flop_limit_, mass_least_;
};

}  // namespace ts::inline v0::solvers
