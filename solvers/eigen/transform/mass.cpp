#include "tallskinny/solvers/eigen/transform/mass.hpp"

#include <algorithm>
#include <utility>

#include "tallskinny/gemm/core/entries.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/direct/cholesky.hpp"
#include "tallskinny/solvers/eigen/transform/usable_shift_detail.hpp"
#include "tallskinny/solvers/ranks/first_rank.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

template <class T>
struct MassFactor<T>::Impl {
  index_t n = 0;                              ///< rows here
  std::unique_ptr<CholeskyFactor<T>> factor;  ///< on rank 0
  double least = 0;

  void apply(const Context& ctx, CholeskyStep step, HostView<const T> x, HostView<T> y) const {
    const Profile::Piece piece(ctx, "steps with the factor of the mass matrix", {}, std::nullopt);
    if (ctx.communicator->size() == 1) return factor->apply(ctx, step, x, y);
    Matrix<T> all = gathered_rows<T>(ctx, x);
    first_alone(ctx, [&] { factor->apply(alone(ctx), step, all.cview(), all.view()); });
    scatter_rows<T>(ctx, all, y);
  }
};

namespace {

/// Y = left(op(right(X)))
template <class T>
struct Wrapped {
  std::shared_ptr<const typename MassFactor<T>::Impl> impl;
  Operator<T> inner;
  CholeskyStep right, left;

  [[nodiscard]] index_t rows() const { return inner.rows(); }
  void apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
    Matrix<T> a(x.rows(), x.cols());
    impl->apply(ctx, right, x, a.view());
    inner.apply(ctx, a.cview(), y);
    impl->apply(ctx, left, y, y);
  }
};

}  // namespace

template <class T>
MassFactor<T>::MassFactor(CsrView<T> mass) : MassFactor(Context(), mass) {}

template <class T>
MassFactor<T>::MassFactor(const Context& ctx, CsrView<T> own) {
  auto made = if_definite(ctx, own);
  if (!made)
    throw Error(Errc::bad_input,
                "the mass matrix is not positive definite (or singular to rounding): A x = lambda M x needs "
                "one that is");
  *this = std::move(*made);
}

template <class T>
std::optional<MassFactor<T>> MassFactor<T>::if_definite(const Context& ctx, CsrView<T> own) {
  const index_t n = all_rows(ctx, own.rows), first = first_row(ctx);
  expects(n == own.cols, "a mass matrix is square");
  Context one = ctx;
  one.threads = 1;
  auto impl = std::make_shared<Impl>();
  impl->n = own.rows;
  if (ctx.communicator->size() == 1) {
    impl->factor = cholesky<T>(own);
  } else {
    const CsrMatrix<T> whole = gathered_matrix<T>(ctx, own);
    first_alone(ctx, [&] { impl->factor = cholesky<T>(whole.view()); });
  }
  const bool factorised = of_first(ctx, impl->factor != nullptr);
  double largest = n > 0 ? 0 : 1;
  for_each_entry(own, [&](index_t i, index_t j, const T& x) {
    if (first + i == j) largest = std::max(largest, std::abs(x));
  });
  largest = max_of_ranks(ctx, largest);
  // Below this the standard form has no correct digit.
  constexpr double largest_condition = 1e14;
  const auto inverse = [&impl](const Context& c, HostView<const T> x, HostView<T> y) {
    impl->apply(c, CholeskyStep::solve, x, y);
    impl->apply(c, CholeskyStep::solve_adjoint, y, y);
  };
  const double growth = factorised && n > 0 ? detail::norm_from_below<T>(one, impl->n, inverse) : 1;
  if (!factorised || !(growth * largest < largest_condition)) return std::nullopt;
  impl->least = 1 / growth;
  MassFactor made;
  made.impl_ = std::move(impl);
  return made;
}

template <class T>
Operator<T> MassFactor<T>::standard(Operator<T> a) const {
  expects(a.rows() == impl_->n, "the mass matrix has another size than the matrix");
  return Wrapped<T>{impl_, std::move(a), CholeskyStep::solve_adjoint, CholeskyStep::solve};
}

template <class T>
Operator<T> MassFactor<T>::standard_inverse(Operator<T> inverse) const {
  expects(inverse.rows() == impl_->n, "the mass matrix has another size than the matrix");
  return Wrapped<T>{impl_, std::move(inverse), CholeskyStep::multiply, CholeskyStep::multiply_adjoint};
}

template <class T>
void MassFactor<T>::back(const Context& ctx, HostView<const T> y, HostView<T> x) const {
  impl_->apply(ctx, CholeskyStep::solve_adjoint, y, x);
}

template <class T>
void MassFactor<T>::weigh(const Context& ctx, HostView<const T> r, HostView<T> w) const {
  impl_->apply(ctx, CholeskyStep::solve, r, w);
}

template <class T>
double MassFactor<T>::least() const noexcept {
  return impl_->least;
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, MassFactor)

}  // namespace ts::inline v0::solvers
