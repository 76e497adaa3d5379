// A dense product as cuBLAS, which is column-major, is asked for it: C (m x n) = op_a(A) op_b(B) with k
// between them. A row-major matrix is its transpose to it, so that C = A^H B becomes C^T = B^T conj(A).
#pragma once

#include <cublas_v2.h>

#include <array>
#include <optional>

#include "tallskinny/app/tsbench/operands.hpp"
#include "tallskinny/gemm/library/data_type.hpp"

namespace ts::bench {

using cuda::data_type;
template <class T>
constexpr cublasComputeType_t compute_type() {
  return std::is_same_v<real_t<T>, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}

template <class T>
struct Product {
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  index_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  index_t lda = 1;
  const T* b = nullptr;
  index_t ldb = 1;
  result_t<T>* c = nullptr;
  index_t ldc = 1;
};

template <class T>
constexpr cublasOperation_t adjoint_of = is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;

template <class T>
[[nodiscard]] bool by_rows(const DeviceOperands<T>& o) {
  return o.x.data != nullptr ? o.x.col_stride == 1 : o.out.col_stride == 1;
}
template <class V>
[[nodiscard]] index_t ld_of(const V& v) {
  return std::max<index_t>(1, v.col_stride == 1 ? v.row_stride : v.col_stride);
}

/// Nothing where the operation is no dense product.
template <class T>
[[nodiscard]] std::optional<Product<T>> product_of(const DeviceOperands<T>& o) {
  const Problem& pr = o.problem;
  const index_t n = pr.n, p = pr.p, q = pr.q;
  const bool rows = by_rows(o);
  const cublasOperation_t none = CUBLAS_OP_N, adjoint = adjoint_of<T>;
  // The small factor of a 16-bit product is float32 to us; cuBLAS wants one type: the same work.
  const T* const small = reinterpret_cast<const T*>(o.small.data);
  switch (pr.operation) {
    case Operation::tsmttsm:
      if (rows) return Product<T>{none, adjoint, q, p, n, o.y.data, ld_of(o.y), o.x.data, ld_of(o.x), o.result.data, q};
      return Product<T>{adjoint, none, p, q, n, o.x.data, ld_of(o.x), o.y.data, ld_of(o.y), o.result.data, p};
    case Operation::gram:
      return Product<T>{rows ? none : adjoint,
                        rows ? adjoint : none,
                        p,
                        p,
                        n,
                        o.x.data,
                        ld_of(o.x),
                        o.x.data,
                        ld_of(o.x),
                        o.result.data,
                        p};
    case Operation::tsmm:
      if (rows) return Product<T>{none, none, q, n, p, small, q, o.x.data, ld_of(o.x), o.out.data, ld_of(o.out)};
      return Product<T>{none, CUBLAS_OP_T, n, q, p, o.x.data, ld_of(o.x), small, q, o.out.data, ld_of(o.out)};
    case Operation::tsm2r:
      if (rows)
        return Product<T>{none, none, q, n, p, o.y.data, ld_of(o.y), o.x.data, ld_of(o.x), o.out.data, ld_of(o.out)};
      return Product<T>{none, none, n, q, p, o.x.data, ld_of(o.x), o.y.data, ld_of(o.y), o.out.data, ld_of(o.out)};
    default: return std::nullopt;
  }
}

}  // namespace ts::bench
