// What a rank has of a matrix.
#pragma once

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::test {

/// Some rows, with column numbers of type I.
template <class I, class T>
CsrMatrix<T, I> rows_of(const CsrMatrix<T>& a, index_t first, index_t rows) {
  CsrMatrix<T, I> own;
  own.rows = rows, own.cols = a.cols;
  const auto from = static_cast<std::ptrdiff_t>(a.pointers[static_cast<std::size_t>(first)]);
  const auto end = static_cast<std::ptrdiff_t>(a.pointers[static_cast<std::size_t>(first + rows)]);
  own.indices.assign(a.indices.begin() + from, a.indices.begin() + end);
  own.values.assign(a.values.begin() + from, a.values.begin() + end);
  for (index_t i = first; i < first + rows; ++i)
    own.pointers.push_back(a.pointers[static_cast<std::size_t>(i) + 1] - from);
  return own;
}

/// Those that ctx.slabs gives this rank.
template <class T>
CsrMatrix<T> own_rows(const CsrMatrix<T>& a, const Context& ctx) {
  return rows_of<std::int32_t>(a, first_row(ctx), ctx.slabs.rows(ctx.communicator->rank()));
}

}  // namespace ts::test
