// What of the BLAS the decompositions call, one thread each call, bound at run time.
#pragma once

#include <complex>

#include "tallskinny/gemm/core/types.hpp"

namespace ts::inline v0::ortho {

/// Fortran's calls: addresses of 32-bit integers, matrices by columns.
template <class T>
struct BlasRoutines {
  using Text = const char*;
  using Int = const int*;
  void (*gemm)(Text op_a, Text op_b, Int m, Int n, Int k, const T* alpha, const T* a, Int lda, const T* b, Int ldb,
               const T* beta, T* c, Int ldc) = nullptr;
  void (*gemv)(Text op, Int m, Int n, const T* alpha, const T* a, Int lda, const T* x, Int incx, const T* beta, T* y,
               Int incy) = nullptr;
  void (*hemv)(Text uplo, Int n, const T* alpha, const T* a, Int lda, const T* x, Int incx, const T* beta, T* y,
               Int incy) = nullptr;
  void (*trmm)(Text side, Text uplo, Text op, Text diag, Int m, Int n, const T* alpha, const T* a, Int lda, T* b,
               Int ldb) = nullptr;
  void (*trsm)(Text side, Text uplo, Text op, Text diag, Int m, Int n, const T* alpha, const T* a, Int lda, T* b,
               Int ldb) = nullptr;
};

/// For double and std::complex<double>; null where the machine has none.
template <class T>
[[nodiscard]] const BlasRoutines<T>* blas_routines();

/// C = alpha op(A) op(B) + beta C, m x n by columns.
template <class T>
// NOLINTNEXTLINE(readability-function-size): the arguments of xGEMM
void blas_gemm(const char* op_a, const char* op_b, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda,
               const T* b, index_t ldb, T beta, T* c, index_t ldc) {
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
  const int ld_a = static_cast<int>(lda), ld_b = static_cast<int>(ldb), ld_c = static_cast<int>(ldc);
  blas_routines<T>()->gemm(op_a, op_b, &rows, &columns, &depth, &alpha, a, &ld_a, b, &ld_b, &beta, c, &ld_c);
}

/// y = y + alpha op(A) x with A m x n by columns.
template <class T>
void blas_gemv(const char* op, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x, T* y) {
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), ld = static_cast<int>(lda), step = 1;
  const T one = 1;
  blas_routines<T>()->gemv(op, &rows, &columns, &alpha, a, &ld, x, &step, &one, y, &step);
}

/// y = y + A x with the upper triangle of a Hermitian A by columns.
template <class T>
void blas_hemv(index_t n, const T* a, index_t lda, const T* x, T* y) {
  const int order = static_cast<int>(n), ld = static_cast<int>(lda), step = 1;
  const T one = 1;
  blas_routines<T>()->hemv("U", &order, &one, a, &ld, x, &step, &one, y, &step);
}

/// B = L B or, inverse, L^-1 B with the lower triangle L of A, or with L^H for op "C"; L m x m, B m x n, by columns.
template <class T>
void blas_lower(bool inverse, const char* op, index_t m, index_t n, const T* a, index_t lda, T* b, index_t ldb) {
  const int rows = static_cast<int>(m), columns = static_cast<int>(n);
  const int ld_a = static_cast<int>(lda), ld_b = static_cast<int>(ldb);
  const T one = 1;
  const auto* routines = blas_routines<T>();
  (inverse ? routines->trsm : routines->trmm)("L", "L", op, "N", &rows, &columns, &one, a, &ld_a, b, &ld_b);
}

}  // namespace ts::inline v0::ortho
