// (A - sigma M)^-1 of a dense A, by LU with pivoting.
#include <Eigen/LU>
#include <cmath>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/eigen/transform/usable_shift_detail.hpp"
#include "tallskinny/solvers/ranks/rows_product.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
Dense<T> dense_of(HostView<const T> a) {
  Dense<T> copy(a.rows(), a.cols());
  for_each_entry(a, [&](index_t i, index_t j, const T& x) { copy(i, j) = x; });
  return copy;
}

/// The largest absolute row sum.
template <class T>
double largest_row_sum(const Dense<T>& a) {
  return a.rows() > 0 ? a.cwiseAbs().rowwise().sum().maxCoeff() : 0;
}

/// LU of a dense matrix.
template <class T, class Shift>
struct DenseFactor : ShiftedFactor<T, Shift> {
  Eigen::PartialPivLU<Dense<T>> lu;

  // Column by column: the bits do not depend on the number of threads.
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const override {
    solve(ctx, x, y, [this](const auto& b) { return lu.solve(b).eval(); });
  }
  void apply_adjoint(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const override {
    solve(ctx, x, y, [this](const auto& b) { return lu.adjoint().solve(b).eval(); });
  }

 private:
  template <class Solve>
  void solve(const Context& ctx, PlacedView<const T> from, PlacedView<T> to, const Solve& solve_one) const {
    using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    const Profile::Piece piece(ctx, "solves with factors", {}, std::nullopt);
    on_host(ctx, from, to, [&](HostView<const T> x, HostView<T> y) {
      const index_t n = x.rows();
      parallel_for(ctx.thread_count(), x.cols(), [&](index_t j) {
        Column b(n);
        for (index_t i = 0; i < n; ++i) b(i) = x(i, j);
        const Column image = solve_one(b);
        for (index_t i = 0; i < n; ++i) y(i, j) = image(i);
      });
    });
  }
};

}  // namespace

template <class T>
DenseShiftInvert<T>::DenseShiftInvert(HostView<const T> a, double sigma, CsrView<T> mass) {
  expects(a.rows() == a.cols(), "a shift needs a square matrix");
  expects(mass.rows == 0 || mass.rows == a.rows(), "the mass matrix has another size than the matrix");
  expects(std::isfinite(sigma), "`target` must be a finite number");
  const auto plain = dense_of(a);
  auto factor = std::make_shared<DenseFactor<T, double>>();
  factor->n = a.rows();
  const double mass_norm = mass.rows == 0 ? 1 : row_sum_norm<T>(one_thread(), mass);
  detail::find_usable_shift<T, double>(
      one_thread(), *factor, sigma, largest_row_sum(plain) + std::abs(sigma) * mass_norm, mass_norm, [&] {
        auto shifted = plain;
        if (mass.rows == 0) shifted.diagonal().array() -= factor->sigma;
        for_each_entry(mass, [&](index_t i, index_t j, const T& m) { shifted(i, j) -= factor->sigma * m; });
        factor->lu.compute(shifted);
        return true;
      });
  this->factor_ = std::move(factor);
}

template <class T>
GeneralInverse<T>::GeneralInverse(HostView<const T> a, T sigma) {
  expects(a.rows() == a.cols(), "a shift needs a square matrix");
  expects(std::isfinite(std::abs(sigma)), "`target` must be a finite number");
  auto factor = std::make_shared<DenseFactor<T, T>>();
  factor->n = a.rows(), factor->hermitian = false;
  const auto plain = dense_of(a);
  const double norm = largest_row_sum(plain);
  detail::find_usable_shift<T, T>(one_thread(), *factor, sigma, norm + std::abs(sigma), 1, [&] {
    auto shifted = plain;
    shifted.diagonal().array() -= factor->sigma;
    factor->lu.compute(shifted);
    return true;
  });
  this->factor_ = std::move(factor);
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, DenseShiftInvert)
template GeneralInverse<double>::GeneralInverse(HostView<const double>, double);
template GeneralInverse<std::complex<double>>::GeneralInverse(HostView<const std::complex<double>>,
                                                              std::complex<double>);

}  // namespace ts::inline v0::solvers
