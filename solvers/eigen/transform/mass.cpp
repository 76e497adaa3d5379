#include "tallskinny/solvers/eigen/transform/mass.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/eigen/transform/factor_detail.hpp"
#include "tallskinny/solvers/eigen/transform/transform.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

using detail::Column;
using detail::Sparse;

template <class T>
struct MassFactor<T>::Body {
  index_t n = 0;
  Eigen::SimplicialLLT<Sparse<T>, Eigen::Lower, Eigen::AMDOrdering<std::int64_t>> llt;
  double least = 0;

  [[nodiscard]] Column<T> solve(const Column<T>& b) const { return llt.solve(b); }
  /// L^-1 P b
  [[nodiscard]] Column<T> down(const Column<T>& b) const {
    Column<T> x = llt.permutationP() * b;
    llt.matrixL().solveInPlace(x);
    return x;
  }
  /// P^T L^-H b
  [[nodiscard]] Column<T> up(const Column<T>& b) const {
    Column<T> x = b;
    llt.matrixU().solveInPlace(x);
    return llt.permutationPinv() * x;
  }
  /// P^T L b
  [[nodiscard]] Column<T> times_factor(const Column<T>& b) const {
    return llt.permutationPinv() * Column<T>(llt.matrixL() * b);
  }
  /// L^H P b
  [[nodiscard]] Column<T> times_adjoint(const Column<T>& b) const {
    return llt.matrixU() * Column<T>(llt.permutationP() * b);
  }
};

namespace {

/// Y = left(op(right(X)))
template <class T>
struct Wrapped {
  using Step = Column<T> (MassFactor<T>::Body::*)(const Column<T>&) const;
  std::shared_ptr<const typename MassFactor<T>::Body> factor;
  Operator<T> inner;
  Step right, left;

  [[nodiscard]] index_t rows() const { return inner.rows(); }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    Matrix<T> a(x.rows(), x.cols()), b(x.rows(), x.cols());
    const auto step = [this](Step s) { return [this, s](const Column<T>& c) { return (*factor.*s)(c); }; };
    detail::apply_columns<T>(ctx, step(right), x, a.view());
    inner.apply(ctx, a.cview(), b.view());
    detail::apply_columns<T>(ctx, step(left), b.cview(), y);
  }
};

}  // namespace

template <class T>
MassFactor<T>::MassFactor(CsrView<T> mass) {
  expects(mass.rows == mass.cols, "a mass matrix is square");
  auto body = std::make_shared<Body>();
  body->n = mass.rows;
  std::vector<Eigen::Triplet<T, std::int64_t>> entries;
  entries.reserve(static_cast<std::size_t>(mass.nonzeros()));
  for (index_t i = 0; i < mass.rows; ++i)
    for (index_t k = mass.pointers[i]; k < mass.pointers[i + 1]; ++k)
      entries.emplace_back(i, mass.indices[k], mass.values[k]);
  Sparse<T> m(mass.rows, mass.cols);
  m.setFromTriplets(entries.begin(), entries.end());
  body->llt.compute(m);
  // Below this the standard form has no correct digit.
  constexpr double largest_condition = 1e14;
  const bool factorised = body->llt.info() == Eigen::Success;
  const double growth = factorised && body->n > 0 ? detail::inverse_norm<T>(*body) : 1;
  const double largest = body->n > 0 ? m.cwiseAbs().eval().diagonal().maxCoeff() : 1;
  if (!factorised || !(growth * largest < largest_condition))
    throw Error(Errc::bad_input,
                "the mass matrix is not positive definite (or singular to rounding): A x = lambda M x needs "
                "one that is");
  body->least = 1 / growth;
  body_ = std::move(body);
}

template <class T>
Operator<T> MassFactor<T>::standard(Operator<T> a) const {
  expects(a.rows() == body_->n, "the mass matrix has another size than the matrix");
  return Wrapped<T>{body_, std::move(a), &Body::up, &Body::down};
}

template <class T>
Operator<T> MassFactor<T>::standard_inverse(Operator<T> inverse) const {
  expects(inverse.rows() == body_->n, "the mass matrix has another size than the matrix");
  return Wrapped<T>{body_, std::move(inverse), &Body::times_factor, &Body::times_adjoint};
}

template <class T>
void MassFactor<T>::back(const Context& ctx, HostView<const T> y, HostView<T> x) const {
  detail::apply_columns<T>(
      ctx, [this](const Column<T>& c) { return body_->up(c); }, y, x);
}

template <class T>
void MassFactor<T>::weigh(const Context& ctx, HostView<const T> r, HostView<T> w) const {
  detail::apply_columns<T>(
      ctx, [this](const Column<T>& c) { return body_->down(c); }, r, w);
}

template <class T>
double MassFactor<T>::least() const noexcept {
  return body_->least;
}

template <class T>
PencilChecks to_pencil(const Context& ctx, const Operator<T>& a, CsrView<T> mass, const MassFactor<T>& factor,
                       const EigenOptions& options, EigenResult<T>& result) {
  const index_t n = a.rows();
  const auto k = static_cast<index_t>(result.values.size());
  const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
  Matrix<T> x(n, k), r(n, k), mx(n, k);
  factor.back(ctx, result.vectors.cview(), x.view());
  spmm(ctx, Op::none, T{1}, mass, x.cview(), T{0}, mx.view());

  // I - X^H M X
  Matrix<T> gram(k, k);
  tsmttsm(ctx, Op::adjoint, T{1}, x.cview(), mx.cview(), T{0}, gram.view());
  for (index_t j = 0; j < k; ++j) gram(j, j) -= T{1};
  const auto loss = ortho::hermitian_eigen<T>(gram.cview());
  result.orthogonality_loss =
      k > 0 ? std::max(std::abs(loss.values.front()), std::abs(loss.values.back())) : 0;

  // R = A X - M X Theta
  a.apply(ctx, x.cview(), r.view());
  result.operator_applications += k;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < k; ++j) r(i, j) -= result.values[at(j)] * mx(i, j);
  std::vector<double> plain(at(k)), of_x(at(k)), weighed(at(k));
  column_norms(ctx, r.cview(), std::span<double>(plain));
  column_norms(ctx, x.cview(), std::span<double>(of_x));
  Matrix<T> w(n, k);
  factor.weigh(ctx, r.cview(), w.view());
  column_norms(ctx, w.cview(), std::span<double>(weighed));

  PencilChecks checks;
  const double norm_a = estimate_norm(ctx, a, options.seed, result.operator_applications);
  index_t of_mass = 0;
  const double norm_m = estimate_norm<T>(ctx, CsrOperator<T>(mass), options.seed, of_mass);
  Acceptance accept;
  accept.tol = options.tol, accept.convergence = options.convergence, accept.norm = result.norm;
  accept.rows = n;
  result.converged_count = 0;
  for (index_t j = 0; j < k; ++j) {
    const double value = result.values[at(j)];
    checks.backward_errors.push_back(plain[at(j)] / ((norm_a + std::abs(value) * norm_m) * of_x[at(j)]));
    // Rounding of the standard form shows here: what was bounded there by less is bounded by this.
    if (weighed[at(j)] > 2 * result.residual_norms[at(j)] && weighed[at(j)] > result.error_bounds[at(j)])
      result.error_bounds[at(j)] = weighed[at(j)];
    result.residual_norms[at(j)] = weighed[at(j)];
    const bool met = weighed[at(j)] <= accept.bound(value);
    result.converged_pairs[at(j)] = result.converged_pairs[at(j)] && met;
    result.converged_count += result.converged_pairs[at(j)] ? 1 : 0;
  }
  if (result.converged && result.converged_count < k) {
    result.converged = result.verified = false;
    result.stop = StopReason::rounding;
    result.reason =
        std::to_string(result.converged_count) + " of " + std::to_string(k) +
        " pairs have residuals from the two matrices within the tolerance; those of the others do not "
        "get smaller: the mass matrix is ill-conditioned, ask for a larger --tol";
  }
  result.vectors = std::move(x);
  return checks;
}

#define TS_INSTANTIATE(T)                                                                                  \
  template class MassFactor<T>;                                                                            \
  template PencilChecks to_pencil<T>(const Context&, const Operator<T>&, CsrView<T>, const MassFactor<T>&, \
                                     const EigenOptions&, EigenResult<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::solvers
