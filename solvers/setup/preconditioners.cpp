#include "tallskinny/solvers/setup/preconditioners.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/eigen/transform/factor_detail.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

WantedEnd positive_end(const std::vector<double>& diagonal, double low, double high, Which which) {
  const double sign = which == Which::LA ? -1 : 1;
  const bool positive = std::all_of(diagonal.begin(), diagonal.end(), [sign](double d) { return sign * d > 0; });
  return {sign, positive ? 0 : (sign > 0 ? -low : high)};
}

template <class T>
Jacobi<T>::Jacobi(std::vector<double> diagonal) : inverse_(std::move(diagonal)) {
  double largest = 0;
  for (const double d : inverse_) largest = std::max(largest, std::abs(d));
  const double least = largest > 0 ? unit_roundoff * largest : 1;
  for (double& d : inverse_) d = 1 / std::max(std::abs(d), least);
}

template <class T>
void Jacobi<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  parallel_for(ctx.thread_count(), x.rows(), [&](index_t i) {
    for (index_t j = 0; j < x.cols(); ++j) y(i, j) = inverse_[at(i)] * x(i, j);
  });
}

template <class T>
struct IncompleteCholesky<T>::Body {
  index_t n = 0;
  Eigen::IncompleteCholesky<T, Eigen::Lower, Eigen::AMDOrdering<int>> factor;
};

template <class T>
IncompleteCholesky<T>::IncompleteCholesky(CsrView<T> a, WantedEnd end) {
  expects(a.rows == a.cols, "an incomplete factorisation needs a square matrix");
  expects(a.nonzeros() + a.rows < std::numeric_limits<int>::max(),
          "incomplete Cholesky takes matrices of up to 2^31 entries");
  std::vector<Eigen::Triplet<T, int>> entries;
  entries.reserve(at(a.nonzeros() + a.rows));
  detail::append(entries, a, end.sign);
  for (int i = 0; i < a.rows; ++i) entries.emplace_back(i, i, T(end.shift));
  Eigen::SparseMatrix<T, Eigen::ColMajor, int> shifted(a.rows, a.cols);
  shifted.setFromTriplets(entries.begin(), entries.end());
  auto body = std::make_shared<Body>();
  body->n = a.rows;
  if (a.rows > 0) {
    body->factor.compute(shifted);
    expects(body->factor.info() == Eigen::Success,
            "the incomplete Cholesky factorisation broke down; take another `preconditioner`");
  }
  body_ = std::move(body);
}

template <class T>
index_t IncompleteCholesky<T>::rows() const noexcept {
  return body_->n;
}

template <class T>
void IncompleteCholesky<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  detail::apply_columns<T>(
      ctx, [this](const detail::Column<T>& b) -> detail::Column<T> { return body_->factor.solve(b); }, x, y);
}

template <class T>
ChebyshevInverse<T>::ChebyshevInverse(const Context& ctx, Operator<T> a, Which which, index_t degree,
                                      std::uint64_t seed)
    : a_(std::move(a)), degree_(degree) {
  expects(degree >= 1, "the degree of a polynomial preconditioner must be at least 1");
  KrylovFactorisation<T> basis(ctx, a_, 32, seed);
  basis.start(HostView<const T>{}, 2);
  while (basis.can_expand()) basis.expand();
  if (basis.size() == 0) return;
  const auto ritz = ritz_of(basis);
  const auto facts = a_.facts();
  const double low = std::max(facts.low, ritz.values.front() - ritz.residuals.front());
  const double high = std::min(facts.high, ritz.values.back() + ritz.residuals.back());
  const double width = std::max(high - low, unit_roundoff * basis.norm());
  end_ = which == Which::LA ? WantedEnd{-1, high} : WantedEnd{1, -low};
  // Beyond `high_` p stays positive for as far as the damped interval is from zero.
  const auto d = static_cast<double>(degree);
  low_ = width > 0 ? width / (d * d) : 1, high_ = width > 0 ? 1.01 * width : 2;
}

template <class T>
void ChebyshevInverse<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  const index_t n = x.rows(), p = x.cols();
  const double theta = 0.5 * (high_ + low_), delta = 0.5 * (high_ - low_), sigma = theta / delta;
  Matrix<T> residual = Matrix<T>::copy_of(x), direction(n, p), image(n, p);
  double rho = 1 / sigma;
  parallel_for(ctx.thread_count(), n, [&](index_t i) {
    for (index_t j = 0; j < p; ++j) y(i, j) = direction(i, j) = residual(i, j) / theta;
  });
  for (index_t step = 1; step < degree_; ++step) {
    a_.apply(ctx, direction.cview(), image.view());
    const double next = 1 / (2 * sigma - rho), keep = next * rho, add = 2 * next / delta;
    parallel_for(ctx.thread_count(), n, [&](index_t i) {
      for (index_t j = 0; j < p; ++j) {
        residual(i, j) -= end_.sign * image(i, j) + end_.shift * direction(i, j);
        direction(i, j) = keep * direction(i, j) + add * residual(i, j);
        y(i, j) += direction(i, j);
      }
    });
    rho = next;
  }
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, Jacobi)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, IncompleteCholesky)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, ChebyshevInverse)

}  // namespace ts::solvers
