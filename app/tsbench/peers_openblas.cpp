#include <cblas.h>

#include "tallskinny/app/tsbench/peers.hpp"

extern "C" {
void openblas_set_num_threads(int);
char* openblas_get_config();
}

namespace ts::bench {

namespace {

using Int = blasint;
constexpr auto row_major = CblasRowMajor;

// One name for the four routines of each kind.
#define TS_BLAS_REAL(T, letter)                                                                            \
  void gemm(bool adjoint, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b,   \
            index_t ldb, T beta, T* c, index_t ldc) {                                                      \
    cblas_##letter##gemm(row_major, adjoint ? CblasTrans : CblasNoTrans, CblasNoTrans, Int(m), Int(n),     \
                         Int(k), alpha, a, Int(lda), b, Int(ldb), beta, c, Int(ldc));                      \
  }                                                                                                        \
  void rank_update(index_t p, index_t n, const T* a, T* c) {                                               \
    cblas_##letter##syrk(row_major, CblasUpper, CblasTrans, Int(p), Int(n), 1, a, Int(p), 0, c, Int(p));   \
  }                                                                                                        \
  void solve(index_t n, index_t p, const T* r, T* x) {                                                     \
    cblas_##letter##trsm(row_major, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, Int(n), Int(p), 1, \
                         r, Int(p), x, Int(p));                                                            \
  }                                                                                                        \
  T norm(index_t n, const T* x, index_t step) {                                                            \
    return cblas_##letter##nrm2(Int(n), x, Int(step));                                                     \
  }
#define TS_BLAS_COMPLEX(T, letter, norm_routine)                                                             \
  void gemm(bool adjoint, index_t m, index_t n, index_t k, T alpha, const T* a, index_t lda, const T* b,     \
            index_t ldb, T beta, T* c, index_t ldc) {                                                        \
    cblas_##letter##gemm(row_major, adjoint ? CblasConjTrans : CblasNoTrans, CblasNoTrans, Int(m), Int(n),   \
                         Int(k), &alpha, a, Int(lda), b, Int(ldb), &beta, c, Int(ldc));                      \
  }                                                                                                          \
  void rank_update(index_t p, index_t n, const T* a, T* c) {                                                 \
    cblas_##letter##herk(row_major, CblasUpper, CblasConjTrans, Int(p), Int(n), 1, a, Int(p), 0, c, Int(p)); \
  }                                                                                                          \
  void solve(index_t n, index_t p, const T* r, T* x) {                                                       \
    const T one = 1;                                                                                         \
    cblas_##letter##trsm(row_major, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, Int(n), Int(p),      \
                         &one, r, Int(p), x, Int(p));                                                        \
  }                                                                                                          \
  T norm(index_t n, const T* x, index_t step) {                                                              \
    return cblas_##norm_routine(Int(n), x, Int(step));                                                       \
  }
TS_BLAS_REAL(double, d)
TS_BLAS_REAL(float, s)
TS_BLAS_COMPLEX(std::complex<double>, z, dznrm2)
TS_BLAS_COMPLEX(std::complex<float>, c, scnrm2)
#undef TS_BLAS_REAL
#undef TS_BLAS_COMPLEX

template <class T>
std::function<void()> peer(const Operands<T>& o) {
  const index_t n = o.problem.n, p = o.problem.p, q = o.problem.q;
  const T one = 1, zero = 0;
  switch (o.problem.operation) {
    case Operation::tsmttsm:
      return [=] { gemm(true, p, q, n, one, o.x, p, o.y, q, zero, o.result, q); };
    case Operation::gram:
      return [=] { rank_update(p, n, o.x, o.result); };
    case Operation::tsmm:
      return [=] { gemm(false, n, q, p, one, o.x, p, o.small, q, zero, o.out, q); };
    case Operation::tsm2r:
      return [=] { gemm(false, n, q, p, one, o.x, p, o.y, q, zero, o.out, q); };
    case Operation::inner_and_gram:
      return [=] {
        gemm(true, p, q, n, one, o.x, p, o.y, q, zero, o.result, q);
        rank_update(q, n, o.y, o.gram);
      };
    case Operation::project_out:
      return [=] {
        gemm(false, n, q, p, T(-1), o.x, p, o.small, q, one, o.out, q);
        gemm(true, p, q, n, one, o.x, p, o.out, q, zero, o.result, q);
        rank_update(q, n, o.out, o.gram);
      };
    case Operation::column_norms:
      return [=] {
        for (index_t j = 0; j < p; ++j) o.result[j] = norm(n, o.x + j, p);
      };
    case Operation::trsm:
      return [=] { solve(n, p, o.small, o.out); };
    case Operation::tsmm_in_place:
    case Operation::spmm:
      break;
  }
  return {};
}

}  // namespace

template <class T>
std::function<void()> openblas_peer(const Operands<T>& o) {
  if constexpr (std::is_same_v<T, result_t<T>>) return peer(o);
  return {};
}

void set_openblas_threads(int threads) {
  openblas_set_num_threads(threads);
}
std::string openblas_version() {
  return openblas_get_config();
}

#define TS_INSTANTIATE(T) template std::function<void()> openblas_peer<T>(const Operands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
