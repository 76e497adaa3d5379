#include "tallskinny/solvers/svd/inverse_gram.hpp"

#include <algorithm>
#include <limits>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// [0, A; A^H, corner I]
template <class T>
CsrMatrix<T> augmented(CsrView<T> a, double corner) {
  const index_t m = a.rows, n = a.cols;
  const auto back = transposed(a);
  CsrMatrix<T> k;
  k.rows = k.cols = m + n;
  const auto add = [&k](index_t column, T value) {
    k.indices.push_back(static_cast<std::int32_t>(column)), k.values.push_back(value);
  };
  for (index_t i = 0; i < m; ++i) {
    for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) add(m + a.indices[e], a.values[e]);
    k.pointers.push_back(static_cast<index_t>(k.indices.size()));
  }
  for (index_t j = 0; j < n; ++j) {
    for (index_t e = back.view().pointers[j]; e < back.view().pointers[j + 1]; ++e)
      add(back.view().indices[e], conjugate(back.view().values[e]));
    if (corner != 0) add(m + j, corner);
    k.pointers.push_back(static_cast<index_t>(k.indices.size()));
  }
  return k;
}

}  // namespace

template <class T>
struct InverseGram<T>::Impl {
  Impl(CsrView<T> a, double d)
      : m(a.rows),
        n(a.cols),
        delta(d),
        shifted(augmented(a, -2 * d)),
        plain(augmented(a, 0)),
        pencil(shifted.view(), {}),
        inverse(pencil, -d),
        count(plain.view(), 0) {}

  /// K^-1 [upper; lower], of which either may be left out (zero).
  [[nodiscard]] Matrix<T> solve(const Context& ctx, const HostView<const T>* upper,
                                const HostView<const T>* lower) const {
    const index_t p = upper != nullptr ? upper->cols() : lower->cols();
    auto b = Matrix<T>::zeros(m + n, p);
    Matrix<T> x(m + n, p);
    if (upper != nullptr) copy_block<T>(ctx, *upper, b.view().rows(0, m));
    if (lower != nullptr) copy_block<T>(ctx, *lower, b.view().rows(m, n));
    inverse.apply(ctx, b.cview(), x.view());
    return x;
  }

  index_t m, n;
  double delta;
  CsrMatrix<T> shifted, plain;
  ShiftedPencil<T> pencil;
  ShiftInvert<T> inverse;
  InertiaCounter<T> count;
};

template <class T>
FactorEstimate InverseGram<T>::estimate(CsrView<T> a) {
  return ShiftedPencil<T>(augmented(a, 1).view(), {}).estimate();
}

template <class T>
FactorEstimate InverseGram<T>::factors() const {
  return impl_->pencil.estimate();
}

template <class T>
InverseGram<T>::InverseGram(CsrView<T> a, double delta) {
  expects(a.rows + a.cols <= static_cast<index_t>(std::numeric_limits<std::int32_t>::max()),
          "rows and columns of the matrix are together more than 2^31, too many for a factorisation");
  impl_ = std::make_shared<const Impl>(a, delta);
}

template <class T>
index_t InverseGram<T>::rows() const noexcept {
  return impl_->n;
}

template <class T>
void InverseGram<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  const auto z = impl_->solve(ctx, nullptr, &x);  // its lower part: -delta (A^H A + delta^2 I)^-1 X
  for (index_t i = 0; i < impl_->n; ++i)
    for (index_t j = 0; j < x.cols(); ++j) y(i, j) = z(impl_->m + i, j) / -impl_->delta;
}

template <class T>
Matrix<T> InverseGram<T>::left_of(const Context& ctx, HostView<const T> x) const {
  return Matrix<T>::copy_of(impl_->solve(ctx, nullptr, &x).cview().rows(0, impl_->m));
}

template <class T>
Matrix<T> InverseGram<T>::left_inverse(const Context& ctx, HostView<const T> y) const {
  auto x = Matrix<T>::copy_of(impl_->solve(ctx, &y, nullptr).cview().rows(0, impl_->m));
  for (index_t i = 0; i < x.rows(); ++i)  // delta (A A^H + delta^2 I)^-1 Y until here
    for (index_t j = 0; j < x.cols(); ++j) x(i, j) /= impl_->delta;
  return x;
}

template <class T>
CountBelow InverseGram<T>::count_below() const {
  return [impl = impl_](double bound, double clearance) -> std::optional<index_t> {
    if (bound <= 0) return 0;
    const auto beyond = impl->count(-bound, std::min(clearance, bound));  // -sigma < -bound
    if (!beyond) return std::nullopt;
    return impl->n - *beyond;
  };
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, InverseGram)

}  // namespace ts::inline v0::solvers
