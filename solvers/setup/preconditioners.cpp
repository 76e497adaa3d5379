#include "tallskinny/solvers/setup/preconditioners.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <algorithm>
#include <cmath>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/solvers/direct/eigen_sparse.hpp"
#include "tallskinny/solvers/eigen/krylov/ritz.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

WantedEnd positive_end(const Context& ctx, const std::vector<double>& diagonal, double low, double high, Which which) {
  const double sign = which == Which::LA ? -1 : 1;
  const bool positive = std::all_of(diagonal.begin(), diagonal.end(), [sign](double d) { return sign * d > 0; });
  if (!any_rank(ctx, !positive)) return {sign, 0};
  return {sign, sign > 0 ? -min_of_ranks(ctx, low) : max_of_ranks(ctx, high)};
}

template <class T>
Operator<T> jacobi(const Context& ctx, const std::vector<double>& diagonal) {
  struct Impl {
    CsrMatrix<T> matrix;
    DeviceCsrMatrix<T> there;
  };
  struct Inverse {
    std::shared_ptr<const Impl> impl;
    CsrOperator<T> products;
    [[nodiscard]] index_t rows() const { return products.rows(); }
    [[nodiscard]] Space space() const { return products.space(); }
    void apply(const Context& c, HostView<const T> x, HostView<T> y) const { products.apply(c, x, y); }
    void apply(const Context& c, DeviceView<const T> x, DeviceView<T> y) const { products.apply(c, x, y); }
  };
  double largest = 0;
  for (const double d : diagonal) largest = std::max(largest, std::abs(d));
  largest = max_of_ranks(ctx, largest);
  const double least = largest > 0 ? unit_roundoff * largest : 1;
  auto impl = std::make_shared<Impl>();
  CsrMatrix<T>& inverse = impl->matrix;
  inverse.rows = inverse.cols = static_cast<index_t>(diagonal.size());
  for (const double d : diagonal) {
    inverse.indices.push_back(static_cast<std::int32_t>(inverse.indices.size()));
    inverse.values.push_back(1 / std::max(std::abs(d), least));
    inverse.pointers.push_back(static_cast<index_t>(inverse.indices.size()));
  }
  if (!ctx.stream) return Inverse{impl, CsrOperator<T>(inverse.view())};
  impl->there = DeviceCsrMatrix<T>(ctx.stream, inverse.view());
  return Inverse{impl, CsrOperator<T>(inverse.view(), impl->there.view())};
}

template <class T>
struct IncompleteCholesky<T>::Impl {
  index_t n = 0;
  Eigen::IncompleteCholesky<T, Eigen::Lower, Eigen::AMDOrdering<int>> factor;
};

template <class T>
IncompleteCholesky<T>::IncompleteCholesky(CsrView<T> a, WantedEnd end) {
  expects(a.rows == a.cols, "an incomplete factorisation needs a square matrix");
  expects(a.nonzeros() + a.rows < std::numeric_limits<int>::max(),
          "incomplete Cholesky takes matrices of up to 2^31 entries");
  auto impl = std::make_shared<Impl>();
  impl->n = a.rows;
  if (a.rows > 0) {
    impl->factor.compute(detail::sparse_of<T, int>(a, end.sign, end.shift));
    expects(impl->factor.info() == Eigen::Success,
            "the incomplete Cholesky factorisation broke down; take another `preconditioner`");
  }
  impl_ = std::move(impl);
}

template <class T>
index_t IncompleteCholesky<T>::rows() const noexcept {
  return impl_->n;
}

template <class T>
void IncompleteCholesky<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  const Profile::Piece piece(ctx, "solves with factors", {}, std::nullopt);
  detail::apply_columns<T>(
      ctx, [this](const detail::Column<T>& b) -> detail::Column<T> { return impl_->factor.solve(b); }, x, y);
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
void ChebyshevInverse<T>::apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
  const double theta = 0.5 * (high_ + low_), delta = 0.5 * (high_ - low_), sigma = theta / delta;
  const auto block = [&] { return PlacedMatrix<T>(ctx, x.space(), x.rows(), x.cols()); };
  auto residual = block(), direction = block(), image = block();
  ortho::Tall<T> tall(ctx);
  ortho::copy_block<T>(ctx, x, residual.view());
  tall.add(1 / theta, x, T{0}, direction.view());
  ortho::copy_block<T>(ctx, direction.cview(), y);
  double rho = 1 / sigma;
  for (index_t step = 1; step < degree_; ++step) {
    const double next = 1 / (2 * sigma - rho);
    // R = R - (sign A + shift I) D
    if (!a_.update(ctx, -end_.sign, -end_.sign * end_.shift, direction.cview(), T{1}, residual.view())) {
      a_.apply(ctx, direction.cview(), image.view());
      tall.add(-end_.sign, image.cview(), T{1}, residual.view());
      if (end_.shift != 0) tall.add(-end_.shift, direction.cview(), T{1}, residual.view());
    }
    tall.add(2 * next / delta, residual.cview(), next * rho, direction.view());
    tall.add(T{1}, direction.cview(), T{1}, y);
    rho = next;
  }
}

template <class T>
Operator<T> preconditioner_of(const Context& ctx, const AnyView<T>& matrix, const Assembled<T>& assembled,
                              Preconditioner kind, Which which) {
  // The polynomial is that of the standard form, whose operator has no entries.
  if (kind == Preconditioner::chebyshev) return ChebyshevInverse<T>(ctx, assembled.problem.a, which);
  if (kind == Preconditioner::incomplete_cholesky) expects_one_rank(ctx, "`preconditioner` ichol");
  const auto* sparse = matrix.sparse();
  expects(sparse != nullptr || kind != Preconditioner::incomplete_cholesky,
          "`preconditioner` ichol needs a sparse matrix: take jacobi or chebyshev");
  std::vector<double> diagonal, radius;
  const index_t n = sparse != nullptr ? sparse->rows : matrix.rows();
  diagonal.assign(static_cast<std::size_t>(n), 0.0), radius = diagonal;
  const auto add = [&, first = first_row(ctx)](index_t i, index_t j, const T& value) {
    const bool on_diagonal = first + i == j;
    auto& sum = on_diagonal ? diagonal : radius;
    sum[static_cast<std::size_t>(i)] += on_diagonal ? std::real(value) : std::abs(value);
  };
  if (sparse != nullptr)
    for_each_entry(*sparse, add);
  else
    for_each_entry(matrix.dense(), add);
  double low = inf, high = -inf;  // Gershgorin
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    low = std::min(low, diagonal[i] - radius[i]);
    high = std::max(high, diagonal[i] + radius[i]);
  }
  const auto end = positive_end(ctx, diagonal, low, high, which);
  const auto standard = [&](Operator<T> inverse) {
    return assembled.factor ? assembled.factor->standard_inverse(std::move(inverse)) : inverse;
  };
  if (kind == Preconditioner::incomplete_cholesky) return standard(IncompleteCholesky<T>(*sparse, end));
  for (double& d : diagonal) d = end.sign * d + end.shift;
  return standard(jacobi<T>(ctx, diagonal));
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, jacobi)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, IncompleteCholesky)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, preconditioner_of)
TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, ChebyshevInverse)

}  // namespace ts::inline v0::solvers
