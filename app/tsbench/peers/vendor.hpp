// The bodies of NVIDIA's libraries share this. cuBLAS is column-major: a row-major matrix is its transpose to it, so
// that C = A^H B becomes C^T = B^T conj(A).
#pragma once

#include <cublas_v2.h>

#include <optional>

#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/gemm/library/data_type.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/vendor_library.hpp"

namespace ts::bench {

template <class T>
void add_cublas_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);
/// Every algorithm that cuBLASLt's heuristic proposes.
template <class T>
void add_cublaslt_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);
/// Every algorithm for sparse times dense.
template <class T>
void add_cusparse_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers);

using cuda::data_type;
template <class T>
constexpr cublasComputeType_t compute_type() {
  return std::is_same_v<real_t<T>, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}

/// C (m x n) = op_a(A) op_b(B) with k between them.
template <class T>
struct DenseProduct {
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
[[nodiscard]] std::optional<DenseProduct<T>> product_of(const DeviceOperands<T>& o) {
  const Problem& pr = o.problem;
  const index_t n = pr.n, p = pr.p, q = pr.q;
  const bool rows = by_rows(o);
  const cublasOperation_t none = CUBLAS_OP_N, adjoint = adjoint_of<T>;
  // The small factor of a 16-bit product is float32 to us; cuBLAS wants one type: the same work.
  const T* const small = reinterpret_cast<const T*>(o.small.data);
  switch (pr.operation) {
    case Operation::tsmttsm:
      if (rows)
        return DenseProduct<T>{none, adjoint, q, p, n, o.y.data, ld_of(o.y), o.x.data, ld_of(o.x), o.result.data, q};
      return DenseProduct<T>{adjoint, none, p, q, n, o.x.data, ld_of(o.x), o.y.data, ld_of(o.y), o.result.data, p};
    case Operation::gram:
      if (rows)
        return DenseProduct<T>{none, adjoint, p, p, n, o.x.data, ld_of(o.x), o.x.data, ld_of(o.x), o.result.data, p};
      return DenseProduct<T>{adjoint, none, p, p, n, o.x.data, ld_of(o.x), o.x.data, ld_of(o.x), o.result.data, p};
    case Operation::tsmm:
      if (rows) return DenseProduct<T>{none, none, q, n, p, small, q, o.x.data, ld_of(o.x), o.out.data, ld_of(o.out)};
      return DenseProduct<T>{none, CUBLAS_OP_T, n, q, p, o.x.data, ld_of(o.x), small, q, o.out.data, ld_of(o.out)};
    case Operation::tsm2r:
      if (rows)
        return DenseProduct<T>{none,       none,     q,          n,          p,           o.y.data,
                               ld_of(o.y), o.x.data, ld_of(o.x), o.out.data, ld_of(o.out)};
      return DenseProduct<T>{none, none, n, q, p, o.x.data, ld_of(o.x), o.y.data, ld_of(o.y), o.out.data, ld_of(o.out)};
    default: return std::nullopt;
  }
}

using cuda::expect_success;
using cuda::VendorLibrary;
using cuda::version_by;

/// "13.1.0"; empty where there is none.
[[nodiscard]] std::string cublas_version();
[[nodiscard]] std::string cusparse_version();

}  // namespace ts::bench
