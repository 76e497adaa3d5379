#include "tallskinny/solvers/eigen/transform/mass.hpp"

#include <Eigen/SparseCholesky>

#include "tallskinny/solvers/eigen/transform/factor_detail.hpp"
#include "tallskinny/solvers/eigen/transform/settle_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

using detail::Column;
using detail::Sparse;

template <class T>
struct MassFactor<T>::Body {
  index_t n = 0;
  Eigen::SimplicialLLT<Sparse<T>, Eigen::Lower, Eigen::AMDOrdering<std::int64_t>> llt;
  double least = 0;

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
  entries.reserve(at(mass.nonzeros()));
  detail::append(entries, mass);
  Sparse<T> m(mass.rows, mass.cols);
  m.setFromTriplets(entries.begin(), entries.end());
  body->llt.compute(m);
  // Below this the standard form has no correct digit.
  constexpr double largest_condition = 1e14;
  const auto inverse = [&body](const Context& ctx, HostView<const T> x, HostView<T> y) {
    detail::apply_columns<T>(
        ctx, [&body](const Column<T>& b) -> Column<T> { return body->llt.solve(b); }, x, y);
  };
  const bool factorised = body->llt.info() == Eigen::Success;
  const double growth = factorised && body->n > 0 ? detail::norm_from_below<T>(body->n, inverse) : 1;
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

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, MassFactor)

}  // namespace ts::solvers
