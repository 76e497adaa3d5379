#include "tallskinny/solvers/svd/inverse_gram.hpp"

#include <algorithm>
#include <limits>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// [0, A; A^H, corner I]
template <class T>
CsrMatrix<T> augmented(CsrView<T> a, double corner) {
  const index_t m = a.rows, n = a.cols;
  expects(m + n <= static_cast<index_t>(std::numeric_limits<std::int32_t>::max()),
          "rows and columns of the matrix are together more than 2^31, too many for a factorisation");
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
FactorEstimate InverseGram<T>::estimate(CsrView<T> a) {
  return ShiftedPencil<T>(augmented(a, 1).view(), {}).estimate();
}

template <class T>
InverseGram<T>::InverseGram(CsrView<T> a, double delta)
    : m_(a.rows),
      n_(a.cols),
      delta_(delta),
      pencil_(augmented(a, -2 * delta).view(), {}),
      inverse_(pencil_, -delta),
      count_(augmented(a, 0).view(), 0) {}

template <class T>
Matrix<T> InverseGram<T>::solve(const Context& ctx, const HostView<const T>* upper,
                                const HostView<const T>* lower) const {
  const index_t p = upper != nullptr ? upper->cols() : lower->cols();
  auto b = Matrix<T>::zeros(m_ + n_, p);
  Matrix<T> x(m_ + n_, p);
  if (upper != nullptr) copy_block<T>(ctx, *upper, b.view().rows(0, m_));
  if (lower != nullptr) copy_block<T>(ctx, *lower, b.view().rows(m_, n_));
  inverse_.apply(ctx, b.cview(), x.view());
  return x;
}

template <class T>
void InverseGram<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  const auto z = solve(ctx, nullptr, &x);  // its lower part: -delta (A^H A + delta^2 I)^-1 X
  for (index_t i = 0; i < n_; ++i)
    for (index_t j = 0; j < x.cols(); ++j) y(i, j) = z(m_ + i, j) / -delta_;
}

template <class T>
Matrix<T> InverseGram<T>::left_of(const Context& ctx, HostView<const T> x) const {
  return Matrix<T>::copy_of(solve(ctx, nullptr, &x).cview().rows(0, m_));
}

template <class T>
Matrix<T> InverseGram<T>::left_inverse(const Context& ctx, HostView<const T> y) const {
  auto x = Matrix<T>::copy_of(solve(ctx, &y, nullptr).cview().rows(0, m_));
  for (index_t i = 0; i < x.rows(); ++i)  // delta (A A^H + delta^2 I)^-1 Y until here
    for (index_t j = 0; j < x.cols(); ++j) x(i, j) /= delta_;
  return x;
}

template <class T>
CountBelow InverseGram<T>::count_below() const {
  return [count = count_, n = n_](double bound, double clearance) -> std::optional<index_t> {
    if (bound <= 0) return 0;
    const auto beyond = count(-bound, std::min(clearance, bound));  // -sigma < -bound
    if (!beyond) return std::nullopt;
    return n - *beyond;
  };
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, InverseGram)

}  // namespace ts::inline v0::solvers
