// Of a matrix whose rows are distributed over ranks, sparse or dense, the operator.
#pragma once

#include "tallskinny/solvers/ranks/csr_rows.hpp"
#include "tallskinny/solvers/ranks/dense_rows.hpp"
#include "tallskinny/solvers/setup/any_matrix.hpp"

namespace ts::solvers {

/// @param own this rank's rows, with column numbers of the whole; dense ones must outlive the operator, sparse ones are
/// copied. All ranks make it together. @throws as CsrRows and DenseRows.
template <class T>
[[nodiscard]] Operator<T> rows_operator_of(const Context& ctx, const AnyMatrix<T>& own) {
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&own)) return CsrRows<T>(ctx, CsrMatrix<T>(*sparse));
  return DenseRows<T>(ctx, std::get<Matrix<T>>(own).cview());
}

/// The same with numbers rounded to float32, of which it has a copy.
template <class T>
[[nodiscard]] Operator<narrow_t<T>> rounded_rows_operator_of(const Context& ctx, const AnyMatrix<T>& own) {
  using N = narrow_t<T>;
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&own)) {
    CsrMatrix<N> rounded{sparse->rows, sparse->cols, sparse->pointers, sparse->indices, {}};
    for (const T x : sparse->values) rounded.values.push_back(static_cast<N>(x));
    return CsrRows<N>(ctx, std::move(rounded));
  }
  struct Body {
    std::shared_ptr<const Matrix<N>> own;
    DenseRows<N> op;
    [[nodiscard]] index_t rows() const { return op.rows(); }
    void apply(const Context& c, HostView<const N> x, HostView<N> y) const { op.apply(c, x, y); }
    [[nodiscard]] OperatorFacts facts() const { return op.facts(); }
  };
  const auto& dense = std::get<Matrix<T>>(own);
  Matrix<N> rounded(dense.rows(), dense.cols());
  for (index_t i = 0; i < dense.rows() * dense.cols(); ++i) rounded.data()[i] = static_cast<N>(dense.data()[i]);
  const auto kept = std::make_shared<const Matrix<N>>(std::move(rounded));
  return Body{kept, DenseRows<N>(ctx, kept->cview())};
}

}  // namespace ts::solvers
