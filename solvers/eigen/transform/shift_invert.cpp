#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/eigen/transform/shifted_matrix.hpp"
#include "tallskinny/solvers/eigen/transform/usable_shift_detail.hpp"
#include "tallskinny/solvers/ranks/rows_product.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
void solve(const Context& ctx, const DirectSolver<T>& solver, Op op, PlacedView<const T> x, PlacedView<T> y) {
  const Profile::Piece piece(ctx, "solves with factors", {}, std::nullopt);
  solver.solve(ctx, op, x, y);
}

template <class T>
struct PencilFactor : ShiftedFactor<T, double> {
  std::shared_ptr<const FactoredPencil<T>> factors;

  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const override {
    const Profile::Piece piece(ctx, "solves with factors", {}, std::nullopt);
    factors->solve(ctx, x, y);
  }
  [[nodiscard]] double growth() const override { return factors->scale.empty() ? 0 : factors->growth; }
};

/// L U of a sparse matrix that need not be Hermitian.
template <class T>
struct SparseFactor : ShiftedFactor<T, T> {
  std::unique_ptr<DirectSolver<T>> solver;

  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const override {
    solve(ctx, *solver, Op::none, x, y);
  }
  void apply_adjoint(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const override {
    solve(ctx, *solver, Op::adjoint, x, y);
  }
};

}  // namespace

template <class T>
ShiftInvert<T>::ShiftInvert(const ShiftedPencil<T>& pencil, double sigma) {
  expects(std::isfinite(sigma), "`target` must be a finite number");
  auto factor = std::make_shared<PencilFactor<T>>();
  factor->n = pencil.rows();
  const double norm = pencil.norm_of_a() + std::abs(sigma) * pencil.norm_of_mass();
  detail::find_usable_shift<T, double>(pencil.context(), *factor, sigma, norm, pencil.norm_of_mass(), [&] {
    factor->factors = nullptr;  // they may serve again
    factor->factors = pencil.factorised(factor->sigma);
    return factor->factors && factor->factors->stable;
  });
  this->factor_ = std::move(factor);
}

template <class T>
GeneralInverse<T>::GeneralInverse(CsrView<T> a, T sigma, const cuda::Stream& gpu) {
  expects(a.rows == a.cols, "a shift needs a square matrix");
  expects(std::isfinite(std::abs(sigma)), "`target` must be a finite number");
  auto factor = std::make_shared<SparseFactor<T>>();
  factor->n = a.rows, factor->hermitian = false;
  detail::ShiftedMatrix<T> entries(a, {});
  const Context ctx = one_thread();
  const double norm = row_sum_norm<T>(ctx, a);
  detail::find_usable_shift<T, T>(ctx, *factor, sigma, norm + std::abs(sigma), 1, [&] {
    const CsrView<T> matrix = entries.at_shift(factor->sigma);
    if (!factor->solver) factor->solver = analyse<T>(matrix, FactorKind::lu, DirectBackend::best, {}, gpu);
    return factorise_well<T>(ctx, factor->solver, matrix, FactorKind::lu) < 1e-11;
  });
  this->factor_ = std::move(factor);
}

template <class T>
FactorEstimate GeneralInverse<T>::estimate(CsrView<T> a) {
  return analyse<T>(detail::ShiftedMatrix<T>(a, {}).at_shift(T{}), FactorKind::lu)->estimate();
}

template <class T>
InertiaCounter<T>::InertiaCounter(ShiftedPencil<T> pencil, double flop_limit, double mass_least)
    : pencil_(std::move(pencil)), flop_limit_(flop_limit), mass_least_(mass_least) {}

template <class T>
InertiaCounter<T>::InertiaCounter(CsrView<T> a, double flop_limit, CsrView<T> mass, double mass_least)
    : InertiaCounter(ShiftedPencil<T>(a, mass), flop_limit, mass_least) {}

template <class T>
std::optional<index_t> InertiaCounter<T>::operator()(double shift, double clearance) const {
  if (flop_limit_ > 0 && pencil_.estimate().flops >= flop_limit_) return std::nullopt;
  const auto factors = pencil_.factorised(shift);
  if (!factors) return std::nullopt;
  // L D L^H = A - shift M + E: the count is that of the pencil when ||E|| ||M^-1|| is below the distance of the shift
  // from the spectrum, as supposed or as the factors tell themselves.
  if (!factors->certain && !(factors->error < clearance * mass_least_)) return std::nullopt;
  return factors->solver->negative();
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, ShiftInvert)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, InertiaCounter)
template FactorEstimate GeneralInverse<double>::estimate(CsrView<double>);
template FactorEstimate GeneralInverse<std::complex<double>>::estimate(CsrView<std::complex<double>>);
template GeneralInverse<double>::GeneralInverse(CsrView<double>, double, const cuda::Stream&);
template GeneralInverse<std::complex<double>>::GeneralInverse(CsrView<std::complex<double>>, std::complex<double>,
                                                              const cuda::Stream&);

}  // namespace ts::inline v0::solvers
