// A dense matrix as a sparse one.
#pragma once

#include <cstdint>

#include "tallskinny/gemm/core/csr.hpp"

namespace ts::inline v0 {

/// `dense` without its zeros. @tparam Dense a matrix or view with elements of type T
template <class T, class Dense>
[[nodiscard]] CsrMatrix<T> sparse_of(const Dense& dense) {
  CsrMatrix<T> a;
  a.rows = dense.rows(), a.cols = dense.cols();
  for (index_t i = 0; i < a.rows; ++i) {
    for (index_t j = 0; j < a.cols; ++j)
      if (dense(i, j) != T{}) a.indices.push_back(static_cast<std::int32_t>(j)), a.values.push_back(dense(i, j));
    a.pointers.push_back(static_cast<index_t>(a.values.size()));
  }
  return a;
}

}  // namespace ts::inline v0
