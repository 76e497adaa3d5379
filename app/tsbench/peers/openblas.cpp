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

/// C = A^H B, C = A B and C = C - A B of contiguous matrices, C m x n with k terms an entry.
enum class Product { inner, plain, subtracted };

template <class T>
constexpr CBLAS_TRANSPOSE adjoint_of = is_complex<T> ? CblasConjTrans : CblasTrans;

/// As routines take a scalar: real ones by value, complex ones by address.
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
std::function<void(const HostOperands<T>&)> way(const Problem& problem) {
  using O = const HostOperands<T>&;
  const index_t n = problem.n, p = problem.p, q = problem.q;
  switch (problem.operation) {
    case Operation::tsmttsm: return [=](O o) { gemm(Product::inner, p, q, n, o.x.data, o.y.data, o.result.data); };
    case Operation::gram: return [=](O o) { rank_update(p, n, o.x.data, o.result.data); };
    case Operation::tsmm: return [=](O o) { gemm(Product::plain, n, q, p, o.x.data, o.small.data, o.out.data); };
    case Operation::tsm2r: return [=](O o) { gemm(Product::plain, n, q, p, o.x.data, o.y.data, o.out.data); };
    case Operation::inner_and_gram:
      return [=](O o) {
        gemm(Product::inner, p, q, n, o.x.data, o.y.data, o.result.data);
        rank_update(q, n, o.y.data, o.gram.data);
      };
    case Operation::project_out:
      return [=](O o) {
        gemm(Product::subtracted, n, q, p, o.x.data, o.small.data, o.out.data);
        gemm(Product::inner, p, q, n, o.x.data, o.out.data, o.result.data);
        rank_update(q, n, o.out.data, o.gram.data);
      };
    case Operation::column_norms:
      return [=](O o) {
        for (index_t j = 0; j < p; ++j) o.result.data[j] = norm(n, o.x.data + j, p);
      };
    case Operation::trsm: return [=](O o) { solve(n, p, o.small.data, o.out.data); };
    case Operation::tsmm_in_place:
    case Operation::spmm: break;
  }
  return {};
}

}  // namespace

template <class T>
std::function<void(const HostOperands<T>&)> openblas_way(const HostOperands<T>& example) {
  if constexpr (std::is_same_v<T, result_t<T>>) return way<T>(example.problem);
  return {};
}

void set_openblas_threads(int threads) { openblas_set_num_threads(threads); }
std::string openblas_version() { return openblas_get_config(); }

#define TS_INSTANTIATE(T) template std::function<void(const HostOperands<T>&)> openblas_way<T>(const HostOperands<T>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::bench
