#include "tallskinny/solvers/eigen/transform/pencil.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/eigen/transform/shifted_matrix.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/solvers/ranks/rows_product.hpp"

namespace ts::inline v0::solvers {

using detail::ShiftedMatrix;

namespace {

/// max ||A x' - b|| / ||x'|| over solves x' of A x = b for b = A x, x random: of such an x, ||E x|| is about
/// ||E||_F / sqrt(n), where one of a random b would see E only where A^-1 is large.
template <class T>
double error_of(const Context& ctx, CsrView<T> a, const DirectSolver<T>& solver) {
  constexpr index_t probes = 3;
  const Operator<T> product = product_of<T>(ctx, a);
  Matrix<T> x(a.rows, probes), b(a.rows, probes), ax(a.rows, probes);
  fill_random<T>(ctx, 0x5eed, 10, x.view());
  product.apply(ctx, x.cview(), b.view());
  solver.solve(ctx, b.cview(), x.view());
  product.apply(ctx, x.cview(), ax.view());
  for (index_t i = 0; i < a.rows * probes; ++i) b.data()[i] = ax.data()[i] - b.data()[i];
  std::array<double, probes> residuals{}, lengths{};
  column_norms(ctx, b.cview(), std::span<double>(residuals));
  column_norms(ctx, x.cview(), std::span<double>(lengths));
  double error = 0;
  for (std::size_t j = 0; j < probes; ++j) {
    const double e = residuals[j] / lengths[j];
    error = std::isfinite(e) ? std::max(error, e) : inf;
  }
  return error * std::sqrt(static_cast<double>(all_rows(ctx, a.rows)));
}

}  // namespace

template <class T>
struct ShiftedPencil<T>::Body {
  Context ctx;
  DirectBody direct;
  cuda::Stream gpu;
  double norm_of_a, norm_of_mass;
  ShiftedMatrix<T> matrix;
  std::unique_ptr<DirectSolver<T>> analysed = nullptr;  ///< and not yet used
  std::vector<int> order = {};
  FactorEstimate estimate = {};
  std::shared_ptr<FactoredPencil<T>> last = nullptr;

  std::unique_ptr<DirectSolver<T>> ready(CsrView<T> shifted) {
    if (analysed) return std::move(analysed);
    if (last && last.use_count() == 1) return std::move(last->solver);
    const Profile::Piece piece(Context{}, "ordering and analysis", {}, std::nullopt);
    auto solver = analyse<T>(ctx, shifted, FactorKind::ldl, direct, order, gpu);
    order = solver->order(), estimate = solver->estimate();
    return solver;
  }
};

template <class T>
ShiftedPencil<T>::ShiftedPencil(CsrView<T> a, CsrView<T> mass, DirectBody body, const cuda::Stream& gpu)
    : ShiftedPencil(Context(), a, mass, body, gpu) {}

template <class T>
ShiftedPencil<T>::ShiftedPencil(const Context& ctx, CsrView<T> a, CsrView<T> mass, DirectBody body,
                                const cuda::Stream& gpu) {
  expects(all_rows(ctx, a.rows) == a.cols, "a shift needs a square matrix");
  expects(mass.cols == 0 || (mass.rows == a.rows && mass.cols == a.cols),
          "the mass matrix has another size than the matrix");
  Context one = ctx;
  one.threads = 1;
  body_ = std::make_shared<Body>(Body{one, body, gpu, row_sum_norm<T>(ctx, a),
                                      mass.cols == 0 ? 1 : row_sum_norm<T>(ctx, mass),
                                      ShiftedMatrix<T>(a, mass, first_row(ctx))});
}

template <class T>
index_t ShiftedPencil<T>::rows() const noexcept {
  return body_->matrix.rows();
}

template <class T>
const Context& ShiftedPencil<T>::context() const noexcept {
  return body_->ctx;
}

template <class T>
double ShiftedPencil<T>::norm_of_a() const noexcept {
  return body_->norm_of_a;
}

template <class T>
double ShiftedPencil<T>::norm_of_mass() const noexcept {
  return body_->norm_of_mass;
}

template <class T>
FactorEstimate ShiftedPencil<T>::estimate() const {
  if (body_->estimate.by.empty()) body_->analysed = body_->ready(body_->matrix.at_shift(0));
  return body_->estimate;
}

template <class T>
std::shared_ptr<const FactoredPencil<T>> ShiftedPencil<T>::factorised(double sigma) const {
  Body& body = *body_;
  if (body.last && body.last->solver && body.last->sigma == sigma) return body.last;
  const CsrView<T> shifted = body.matrix.at_shift(sigma);
  auto factored = std::make_shared<FactoredPencil<T>>();
  factored->sigma = sigma, factored->solver = body.ready(shifted);
  constexpr double largest_backward_error = 1e-11;
  double backward;
  {
    const Profile::Piece piece(Context{}, "factorisations", {0, 0, body.estimate.flops}, DType::float64);
    backward = factorise_well<T>(body.ctx, factored->solver, shifted, FactorKind::ldl);
  }
  if (std::isinf(backward)) {
    body.analysed = std::move(factored->solver), body.last = nullptr;
    return nullptr;
  }
  factored->stable = backward < largest_backward_error;
  factored->error = shifted.cols == 0 ? 0 : error_of<T>(body.ctx, shifted, *factored->solver);
  body.last = factored;
  return factored;
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, ShiftedPencil)

}  // namespace ts::inline v0::solvers
