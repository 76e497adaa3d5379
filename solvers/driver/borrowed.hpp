// Matrices of many kinds, in the caller's memory, as the one that eigen-solvers take.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/dtype.hpp"
#include "tallskinny/gemm/core/types.hpp"
#include "tallskinny/solvers/setup/scale.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

/// A matrix in the type that solvers compute in: T is double or std::complex<double>.
///
/// | given | copied |
/// |---|---|
/// | sparse, float64 or complex128, 32-bit column numbers that rise within each row | nothing |
/// | the same with 64-bit column numbers | column numbers, to 32 bits |
/// | dense, row-major, float64 or complex128 | nothing |
/// | sparse with columns in any order, or duplicates, which are added up | all of it |
/// | another type, which is widened; dense and column-major | all of it |
///
/// What is not copied must outlive it.
template <class T>
class Borrowed {
 public:
  template <class U, class I>
  explicit Borrowed(const CsrView<U, Space::host, I>& a);
  template <class U, Layout L>
  explicit Borrowed(const MatrixView<U, Space::host, L>& a);
  /// Takes a matrix over, columns rising within each row: it is changed in place.
  explicit Borrowed(AnyMatrix<T>&& own) : own_(std::move(own)), owns_(true), view_(own_) {}
  Borrowed(const Borrowed&) = delete;  // the view is of what this one owns
  Borrowed& operator=(const Borrowed&) = delete;

  [[nodiscard]] const AnyView<T>& view() const noexcept { return view_; }
  /// Calls change(matrix) with a copy, which view() is of from then on; what was copied already is not copied again.
  template <class Change>
  void change(const Change& change) {
    if (!owns_) own_ = owned(view_), owns_ = true;
    change(own_);
    view_ = AnyView<T>(own_);
  }
  /// Divides by a power of two where numbers are extreme. Returns its exponent, 0 for ordinary numbers; ranks, of which
  /// each has some rows, get the same.
  int take_exponent(const Context& ctx, bool in_float32 = false) {
    const int exponent = extreme_exponent<T>(ctx, view_, in_float32);
    if (exponent != 0) change([exponent](AnyMatrix<T>& own) { scale(own, -exponent); });
    return exponent;
  }
  /// The matrix itself, which was taken over or changed.
  [[nodiscard]] AnyMatrix<T> take() && { return std::move(own_); }
  /// In which the caller stored it: what rounding is judged by.
  [[nodiscard]] DType stored_as() const noexcept { return stored_as_; }

 private:
  std::vector<std::int32_t> indices_;
  AnyMatrix<T> own_;
  bool owns_ = false;
  AnyView<T> view_ = AnyView<T>(CsrView<T>{});
  DType stored_as_ = DType::float64;
};

/// Checks a sparse matrix. Returns true if columns rise within each row.
/// @throws Error(invalid_argument) where pointers fall or columns are out of range.
template <class T, class I>
bool check_csr(const CsrView<T, Space::host, I>& a) {
  expects(a.rows >= 0 && a.cols >= 0, "a sparse matrix has negative rows or columns");
  expects(a.rows == 0 || a.pointers != nullptr, "a sparse matrix has rows but no row pointers");
  expects(a.rows == 0 || a.pointers[0] == 0, "the row pointers of a sparse matrix begin with 0");
  expects(a.rows == 0 || a.pointers[a.rows] <= 0 || (a.indices != nullptr && a.values != nullptr),
          "a sparse matrix has entries but no column numbers or no values");
  bool rising = true;
  for (index_t i = 0; i < a.rows; ++i) {
    expects(a.pointers[i] <= a.pointers[i + 1], "the row pointers of a sparse matrix fall");
    for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) {
      const auto j = static_cast<index_t>(a.indices[e]);
      expects(j >= 0 && j < a.cols, "a column number of a sparse matrix is outside of it");
      rising = rising && (e == a.pointers[i] || static_cast<index_t>(a.indices[e - 1]) < j);
    }
  }
  return rising;
}

/// A copy with columns that rise within each row, in the type asked for; duplicates are added up.
template <class T, class U, class I>
[[nodiscard]] CsrMatrix<T> canonical(const CsrView<U, Space::host, I>& a) {
  CsrMatrix<T> out{a.rows, a.cols, {0}, {}, {}};
  out.pointers.reserve(at(a.rows) + 1), out.indices.reserve(at(a.nonzeros())), out.values.reserve(at(a.nonzeros()));
  std::vector<index_t> order;
  for (index_t i = 0; i < a.rows; ++i) {
    order.clear();
    for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) order.push_back(e);
    std::stable_sort(order.begin(), order.end(), [&](index_t e, index_t f) { return a.indices[e] < a.indices[f]; });
    for (const index_t e : order) {
      const auto j = static_cast<std::int32_t>(a.indices[e]);
      if (std::ssize(out.indices) > out.pointers.back() && out.indices.back() == j)
        out.values.back() += T(to_wide(a.values[e]));
      else
        out.indices.push_back(j), out.values.push_back(T(to_wide(a.values[e])));
    }
    out.pointers.push_back(std::ssize(out.indices));
  }
  return out;
}

template <class T>
template <class U, class I>
Borrowed<T>::Borrowed(const CsrView<U, Space::host, I>& a) : stored_as_(dtype_of<U>) {
  constexpr index_t most = std::numeric_limits<std::int32_t>::max();
  expects(a.cols <= most, "a sparse matrix with more than 2^31 columns is given as an Operator (CsrOperator)");
  const bool rising = check_csr(a);
  if (!rising || !std::is_same_v<T, U>) {
    own_ = canonical<T>(a), owns_ = true;
    view_ = AnyView<T>(own_);
  } else if constexpr (std::is_same_v<T, U>) {
    CsrView<T> same{a.rows, a.cols, a.pointers, nullptr, a.values};
    if constexpr (std::is_same_v<I, std::int32_t>)
      same.indices = a.indices;
    else
      indices_.assign(a.indices, a.indices + a.nonzeros()), same.indices = indices_.data();
    view_ = AnyView<T>(same);
  }
}

template <class T>
template <class U, Layout L>
Borrowed<T>::Borrowed(const MatrixView<U, Space::host, L>& a) : stored_as_(dtype_of<std::remove_const_t<U>>) {
  using Element = std::remove_const_t<U>;
  if constexpr (std::is_same_v<Element, T> && L == Layout::row_major) {
    view_ = AnyView<T>(HostView<const T>(a));
  } else {
    Matrix<T> wide(a.rows(), a.cols());
    for (index_t i = 0; i < a.rows(); ++i)
      for (index_t j = 0; j < a.cols(); ++j) wide(i, j) = T(to_wide(a(i, j)));
    own_ = std::move(wide), owns_ = true;
    view_ = AnyView<T>(own_);
  }
}

/// The options of a search for `k` pairs or triplets.
[[nodiscard]] inline EigenOptions options_for(const EigenOptions& options, index_t k) {
  EigenOptions out = options;
  out.nev = k;
  return out;
}

/// Views of what the drivers accept: sparse and dense matrices, owners and views, in host memory.
template <class M>
[[nodiscard]] auto host_view_of(const M& matrix) {
  if constexpr (requires { matrix.view(); })
    return matrix.view();
  else
    return matrix;
}
template <class M>
using element_of_t = typename std::remove_cvref_t<M>::value_type;
template <class M>
concept MatrixInMemory = requires(const M& m) {
  []<class T, class I>(const CsrView<T, Space::host, I>&) {}(host_view_of(m));
}
|| requires(const M& m) {
  []<class T, Layout L>(const MatrixView<T, Space::host, L>&) {}(host_view_of(m));
};

}  // namespace ts::inline v0::solvers
