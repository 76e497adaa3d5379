#include "tallskinny/solvers/eigen/transform/pencil.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/eigen/transform/shifted_matrix.hpp"
#include "tallskinny/solvers/eigen/transform/usable_shift_detail.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/solvers/ranks/rows_product.hpp"

namespace ts::inline v0::solvers {

using detail::ShiftedMatrix;

namespace {

/// max ||A x' - b|| / ||x'|| over solves x' of A x = b for b = A x, x random: of such an x, ||E x|| is about
/// ||E||_F / sqrt(n), where one of a random b would see E only where A^-1 is large.
template <class T>
double error_of(const Context& ctx, CsrView<T> a, const detail::BlockMap<T>& inverse) {
  constexpr index_t probes = 3;
  const Operator<T> product = product_of<T>(ctx, a);
  Matrix<T> x(a.rows, probes), b(a.rows, probes), ax(a.rows, probes);
  fill_random<T>(ctx, 0x5eed, 10, x.view());
  product.apply(ctx, x.cview(), b.view());
  inverse(ctx, b.cview(), x.view());
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

/// The largest entry of each row of D A D.
template <class T>
std::vector<double> largest_of_rows(CsrView<T> a, const std::vector<double>& d) {
  std::vector<double> largest(d.size(), 0.0);
  for_each_entry(a, [&](index_t i, index_t j, const T& x) {
    largest[at(i)] = std::max(largest[at(i)], std::abs(x) * d[at(i)] * d[at(j)]);
  });
  return largest;
}

/// D that gives all rows of D A D entries of one size; empty where those of A differ by fewer than six orders.
/// Source: Ruiz 2001, "A scaling algorithm to equilibrate both rows and columns norms in matrices".
template <class T>
std::vector<double> equilibration(CsrView<T> a) {
  constexpr double orders = 1e6;
  constexpr int rounds = 8;
  std::vector<double> d(at(a.rows), 1.0);
  for (int round = 0; round < rounds; ++round) {
    double least = inf, most = 0;
    const auto largest = largest_of_rows(a, d);
    for (const double x : largest)
      if (x > 0) least = std::min(least, x), most = std::max(most, x);
    if (round == 0 && !(most > orders * least)) return {};
    for (std::size_t i = 0; i < d.size(); ++i)
      if (largest[i] > 0) d[i] /= std::sqrt(largest[i]);
  }
  for (double& x : d) x = std::exp2(std::round(std::log2(x)));
  return d;
}

/// D A D
template <class T>
CsrMatrix<T> equilibrated(CsrView<T> a, const std::vector<double>& d) {
  CsrMatrix<T> s{a.rows, a.cols, {a.pointers, a.pointers + a.rows + 1}, {}, {}};
  for_each_entry(a, [&](index_t i, index_t j, const T& x) {
    s.indices.push_back(static_cast<std::int32_t>(j)), s.values.push_back(x * d[at(i)] * d[at(j)]);
  });
  return s;
}

}  // namespace

template <class T>
void FactoredPencil<T>::solve(const Context& ctx, PlacedView<const T> b, PlacedView<T> x, bool once) const {
  const auto by_factors = [&](PlacedView<const T> right, PlacedView<T> solution) {
    once ? solver->solve_once(ctx, right, solution) : solver->solve(ctx, right, solution);
  };
  if (scale.empty()) return by_factors(b, x);
  const auto times_scale = [this](HostView<const T> from, HostView<T> to) {
    for (index_t i = 0; i < from.rows(); ++i)
      for (index_t j = 0; j < from.cols(); ++j) to(i, j) = scale[at(i)] * from(i, j);
  };
  on_host(ctx, b, x, [&](HostView<const T> from, HostView<T> to) {
    Matrix<T> right(from.rows(), from.cols());
    times_scale(from, right.view());
    by_factors(right.cview(), to);
    times_scale(to, to);
  });
}

template <class T>
struct ShiftedPencil<T>::Impl {
  Context ctx;
  DirectBackend direct;
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
ShiftedPencil<T>::ShiftedPencil(CsrView<T> a, CsrView<T> mass, DirectBackend backend, const cuda::Stream& gpu)
    : ShiftedPencil(Context(), a, mass, backend, gpu) {}

template <class T>
ShiftedPencil<T>::ShiftedPencil(const Context& ctx, CsrView<T> a, CsrView<T> mass, DirectBackend backend,
                                const cuda::Stream& gpu) {
  expects(all_rows(ctx, a.rows) == a.cols, "a shift needs a square matrix");
  expects(mass.cols == 0 || (mass.rows == a.rows && mass.cols == a.cols),
          "the mass matrix has another size than the matrix");
  Context one = ctx;
  one.threads = 1;
  impl_ = std::make_shared<Impl>(Impl{one, backend, gpu, row_sum_norm<T>(ctx, a),
                                      mass.cols == 0 ? 1 : row_sum_norm<T>(ctx, mass),
                                      ShiftedMatrix<T>(a, mass, first_row(ctx))});
}

template <class T>
index_t ShiftedPencil<T>::rows() const noexcept {
  return impl_->matrix.rows();
}

template <class T>
const Context& ShiftedPencil<T>::context() const noexcept {
  return impl_->ctx;
}

template <class T>
double ShiftedPencil<T>::norm_of_a() const noexcept {
  return impl_->norm_of_a;
}

template <class T>
double ShiftedPencil<T>::norm_of_mass() const noexcept {
  return impl_->norm_of_mass;
}

template <class T>
FactorEstimate ShiftedPencil<T>::estimate() const {
  if (impl_->estimate.by.empty()) impl_->analysed = impl_->ready(impl_->matrix.at_shift(0));
  return impl_->estimate;
}

template <class T>
FactorEstimate ShiftedPencil<T>::sketch(double most_flops) const {
  if (impl_->ctx.communicator->size() == 1)
    return sketch_factors<T>(impl_->matrix.at_shift(0), most_flops, impl_->order);
  FactorEstimate found = estimate();
  found.entries = found.bytes / (sizeof(T) + sizeof(std::int32_t));
  if (found.flops > most_flops) found.flops = inf;
  return found;
}

namespace {

/// Measures how accurate the factors of S are, for S and for the matrix `a` that it scales.
template <class T>
void measure(const Context& ctx, CsrView<T> a, CsrView<T> s, FactoredPencil<T>& factored) {
  constexpr double far_below = 1.0 / 8;
  const auto inverse = [&factored](const Context& c, HostView<const T> b, HostView<T> x) {
    factored.solver->solve(c, b, x);
  };
  const double moved = factored.solver->moved_pivots();
  const double of_s = moved + error_of<T>(ctx, s, [&factored](const Context& c, HostView<const T> b, HostView<T> x) {
                        factored.solver->solve_once(c, b, x);
                      });
  const double inverse_norm = detail::norm_from_below<T>(ctx, s.rows, inverse);
  factored.growth = row_sum_norm<T>(ctx, s) * inverse_norm;
  factored.certain = inverse_norm * of_s < far_below;
  factored.error = of_s;
  if (!factored.scale.empty() && moved > 0)
    factored.error = inf;
  else if (!factored.scale.empty())
    factored.error = error_of<T>(
        ctx, a, [&factored](const Context& c, HostView<const T> b, HostView<T> x) { factored.solve(c, b, x, true); });
}

}  // namespace

template <class T>
std::shared_ptr<const FactoredPencil<T>> ShiftedPencil<T>::factorised(double sigma) const {
  Impl& impl = *impl_;
  if (impl.last && impl.last->solver && impl.last->sigma == sigma) return impl.last;
  const CsrView<T> shifted = impl.matrix.at_shift(sigma);
  auto factored = std::make_shared<FactoredPencil<T>>();
  factored->sigma = sigma, factored->solver = impl.ready(shifted);
  CsrMatrix<T> own;
  if (impl.ctx.communicator->size() == 1) factored->scale = equilibration(shifted);
  if (!factored->scale.empty()) own = equilibrated(shifted, factored->scale);
  const CsrView<T> s = factored->scale.empty() ? shifted : own.view();
  constexpr double largest_backward_error = 1e-11;
  double backward;
  {
    const Profile::Piece piece(Context{}, "factorisations", {0, 0, impl.estimate.flops}, DType::float64);
    backward = factorise_well<T>(impl.ctx, factored->solver, s, FactorKind::ldl);
  }
  if (std::isinf(backward)) {
    impl.analysed = std::move(factored->solver), impl.last = nullptr;
    return nullptr;
  }
  factored->stable = backward < largest_backward_error;
  if (shifted.cols > 0) measure<T>(impl.ctx, shifted, s, *factored);
  impl.last = factored;
  return factored;
}

template struct FactoredPencil<double>;
template struct FactoredPencil<std::complex<double>>;
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, ShiftedPencil)

}  // namespace ts::inline v0::solvers
