#include <cblas.h>

#include "tallskinny/app/tsbench/peers/peers.hpp"

extern "C" {
void openblas_set_num_threads(int);
char* openblas_get_config();
}

namespace ts::bench {

namespace {

using Int = blasint;
constexpr auto row_major = CblasRowMajor;

template <class T>
constexpr CBLAS_TRANSPOSE adjoint_of = is_complex<T> ? CblasConjTrans : CblasTrans;

/// A scalar as routines take it: real ones by value, complex ones by address.
template <class T>
auto scalar(const T& x) {
  if constexpr (is_complex<T>)
    return &x;
  else
    return x;
}

// One name for the four routines of each kind.
#define TS_BLAS(T, letter, rank_routine, norm_routine)                                                               \
  void gemm(Product product, index_t m, index_t n, index_t k, const T* a, const T* b, T* c) {                        \
    const bool adjoint = product == Product::inner;                                                                  \
    const T alpha = product == Product::subtracted ? -1 : 1, beta = product == Product::subtracted ? 1 : 0;          \
    cblas_##letter##gemm(row_major, adjoint ? adjoint_of<T> : CblasNoTrans, CblasNoTrans, Int(m), Int(n), Int(k),    \
                         scalar(alpha), a, Int(adjoint ? m : k), b, Int(n), scalar(beta), c, Int(n));                \
  }                                                                                                                  \
  void rank_update(index_t p, index_t n, const T* a, T* c) {                                                         \
    cblas_##rank_routine(row_major, CblasUpper, adjoint_of<T>, Int(p), Int(n), 1, a, Int(p), 0, c, Int(p));          \
  }                                                                                                                  \
  void solve(index_t n, index_t p, const T* r, T* x) {                                                               \
    const T one = 1;                                                                                                 \
    cblas_##letter##trsm(row_major, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, Int(n), Int(p), scalar(one), \
                         r, Int(p), x, Int(p));                                                                      \
  }                                                                                                                  \
  T norm(index_t n, const T* x, index_t step) { return cblas_##norm_routine(Int(n), x, Int(step)); }
TS_BLAS(double, d, dsyrk, dnrm2)
TS_BLAS(float, s, ssyrk, snrm2)
TS_BLAS(std::complex<double>, z, zherk, dznrm2)
TS_BLAS(std::complex<float>, c, cherk, scnrm2)
#undef TS_BLAS

template <class T>
void norms(index_t n, index_t p, const T* x, T* to) {
  for (index_t j = 0; j < p; ++j) to[j] = norm(n, x + j, p);
}

}  // namespace

template <class T>
const HostLibrary<T>* openblas_library() {
  static constexpr HostLibrary<T> library = {gemm, rank_update, norms<T>, solve, nullptr, nullptr};
  return &library;
}
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, openblas_library)

void set_openblas_threads(int threads) { openblas_set_num_threads(threads); }
std::string openblas_version() { return openblas_get_config(); }

}  // namespace ts::bench
