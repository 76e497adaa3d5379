// Operator of a sparse or dense matrix whose rows are distributed over ranks.
#pragma once

#include "tallskinny/solvers/ranks/csr_rows.hpp"
#include "tallskinny/solvers/ranks/dense_rows.hpp"
#include "tallskinny/solvers/setup/any_matrix.hpp"

namespace ts::inline v0::solvers {

/// @param own this rank's rows, with column numbers of the whole; dense ones must outlive the operator, sparse ones are
/// copied. All ranks make it together. @throws as CsrRows and DenseRows.
template <class T>
[[nodiscard]] Operator<T> rows_operator_of(const Context& ctx, const AnyView<T>& own) {
  if (own.sparse() != nullptr) return CsrRows<T>(ctx, std::get<CsrMatrix<T>>(owned(own)));
  return DenseRows<T>(ctx, own.dense());
}

/// Operator of a copy of the matrix that is rounded to float32.
template <class T>
[[nodiscard]] Operator<narrow_t<T>> rounded_rows_operator_of(const Context& ctx, const AnyView<T>& own) {
  using N = narrow_t<T>;
  if (own.sparse() != nullptr) {
    auto sparse = std::get<CsrMatrix<T>>(owned(own));
    CsrMatrix<N> rounded{sparse.rows, sparse.cols, std::move(sparse.pointers), std::move(sparse.indices), {}};
    rounded.values.reserve(sparse.values.size());
    for (const T x : sparse.values) rounded.values.push_back(static_cast<N>(x));
    return CsrRows<N>(ctx, std::move(rounded));
  }
  struct Impl {
    std::shared_ptr<const Matrix<N>> own;
    DenseRows<N> op;
    [[nodiscard]] index_t rows() const { return op.rows(); }
    void apply(const Context& c, HostView<const N> x, HostView<N> y) const { op.apply(c, x, y); }
    [[nodiscard]] OperatorFacts facts() const { return op.facts(); }
  };
  const HostView<const T>& dense = own.dense();
  Matrix<N> rounded(dense.rows(), dense.cols());
  for (index_t i = 0; i < dense.rows(); ++i)
    for (index_t j = 0; j < dense.cols(); ++j) rounded(i, j) = static_cast<N>(dense(i, j));
  const auto kept = std::make_shared<const Matrix<N>>(std::move(rounded));
  return Impl{kept, DenseRows<N>(ctx, kept->cview())};
}

}  // namespace ts::inline v0::solvers
