// What the Eigen references share: rows of operands in the type that computing is done in. Included by
// *_reference.cpp only, so that Eigen stays out of every other translation unit.
#pragma once

#include <Eigen/Core>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/gemm/core/view.hpp"

namespace ts::inline v0::reference {

template <class R>
using Dense = Eigen::Matrix<R, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class R>
using Row = Eigen::Matrix<R, 1, Eigen::Dynamic>;

template <class T>
[[nodiscard]] T conjugate_if(bool conjugate, T x) noexcept {
  if constexpr (is_complex<T>) return conjugate ? std::conj(x) : x;
  return x;
}

/// row = v(i, :)
template <class T>
void load_row(const Strided<T>& v, index_t i, Row<result_t<std::remove_const_t<T>>>& row) {
  row.resize(v.cols);
  for (index_t j = 0; j < v.cols; ++j) row(j) = widened(v(i, j));
}

/// A copy of op(v).
template <class T>
[[nodiscard]] Dense<result_t<std::remove_const_t<T>>> copy_of(Op op, const Strided<T>& v) {
  const auto from = op == Op::none ? v : v.transposed();
  Dense<result_t<std::remove_const_t<T>>> m(from.rows, from.cols);
  for (index_t i = 0; i < from.rows; ++i)
    for (index_t j = 0; j < from.cols; ++j) m(i, j) = conjugate_if(op == Op::adjoint, widened(from(i, j)));
  return m;
}

/// out(i, :) = alpha product + beta out(i, :), where beta = 0 never reads out.
template <class R, class Product>
void store_row(R alpha, const Product& product, R beta, const Strided<R>& out, index_t i) {
  for (index_t j = 0; j < out.cols; ++j)
    out(i, j) = beta == R{} ? alpha * product(j) : alpha * product(j) + beta * out(i, j);
}

/// out = alpha product + beta out.
template <class R>
void store(R alpha, const Dense<R>& product, R beta, const Strided<R>& out) {
  for (index_t i = 0; i < out.rows; ++i) store_row(alpha, product.row(i), beta, out, i);
}

/// Makes a computed Gram matrix exactly Hermitian (adjoint) or symmetric (transpose) from its upper triangle.
template <class R>
void mirror_upper(Op op, Dense<R>& g) {
  for (index_t i = 0; i < g.rows(); ++i) {
    if (op == Op::adjoint) g(i, i) = std::real(g(i, i));
    for (index_t j = i + 1; j < g.cols(); ++j) g(j, i) = conjugate_if(op == Op::adjoint, g(i, j));
  }
}

}  // namespace ts::inline v0::reference
