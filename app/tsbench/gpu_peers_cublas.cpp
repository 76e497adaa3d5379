// cuBLAS is column-major: a row-major n x p matrix is a p x n one to it, so that C = A^H B becomes C^T = B^T
// conj(A).
#include <cublas_v2.h>

#include <array>

#include "tallskinny/app/tsbench/gpu_peers.hpp"
#include "tallskinny/gemm/backend/cuda/shared_library.hpp"

namespace ts::bench {

namespace {

#define TS_FOR_EACH_CUBLAS_FUNCTION(X) \
  X(create, cublasCreate_v2)           \
  X(set_stream, cublasSetStream_v2)    \
  X(version, cublasGetVersion_v2)      \
  X(gemm, cublasGemmEx_64)             \
  X(dsyrk, cublasDsyrk_v2_64)          \
  X(ssyrk, cublasSsyrk_v2_64)          \
  X(zherk, cublasZherk_v2_64)          \
  X(cherk, cublasCherk_v2_64)          \
  X(dgemv, cublasDgemv_v2_64)          \
  X(sgemv, cublasSgemv_v2_64)          \
  X(zgemv, cublasZgemv_v2_64)          \
  X(cgemv, cublasCgemv_v2_64)          \
  X(dtrsm, cublasDtrsm_v2_64)          \
  X(strsm, cublasStrsm_v2_64)          \
  X(ztrsm, cublasZtrsm_v2_64)          \
  X(ctrsm, cublasCtrsm_v2_64)          \
  X(zgemm3m, cublasZgemm3m_64)         \
  X(cgemm3m, cublasCgemm3m_64)

struct Cublas {
#define TS_MEMBER(member, function) decltype(&::function) member = nullptr;
  TS_FOR_EACH_CUBLAS_FUNCTION(TS_MEMBER)
#undef TS_MEMBER
  bool complete = false;
};

const Cublas& cublas() {
  static const Cublas c = [] {
    Cublas found;
    static const cuda::SharedLibrary library(std::array<const char*, 2>{"libcublas.so.13", "libcublas.so.12"},
                                             cuda::toolkit_folders());
    bool complete = library.loaded();
#define TS_BIND(member, function) complete = library.bind(found.member, #function) && complete;
    TS_FOR_EACH_CUBLAS_FUNCTION(TS_BIND)
#undef TS_BIND
    found.complete = complete;
    return found;
  }();
  return c;
}

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(Errc::device_failure,
                "cuBLAS failed with status " + std::to_string(static_cast<int>(status)));
}

/// The handle of this process.
cublasHandle_t handle() {
  static cublasHandle_t h = nullptr;
  if (h == nullptr) check(cublas().create(&h));
  return h;
}

template <class T>
constexpr cudaDataType_t data_type() {
  constexpr std::array<cudaDataType_t, 6> types = {CUDA_R_64F, CUDA_C_64F, CUDA_R_32F,
                                                   CUDA_C_32F, CUDA_R_16F, CUDA_R_16BF};
  return types[static_cast<std::size_t>(dtype_of<T>)];
}
template <class T>
constexpr cublasComputeType_t compute_type() {
  return std::is_same_v<real_t<T>, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}

/// C = op_a(A) op_b(B), column-major.
template <class T, class B>
void gemm(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, index_t m, index_t n, index_t k,
          const T* a, index_t lda, const B* b, index_t ldb, result_t<T>* c, index_t ldc) {
  const result_t<T> one{1}, zero{};
  check(cublas().gemm(h, op_a, op_b, m, n, k, &one, a, data_type<T>(), lda, b, data_type<B>(), ldb, &zero, c,
                      data_type<result_t<T>>(), ldc, compute_type<T>(), CUBLAS_GEMM_DEFAULT));
}

// One name for the four routines of each kind.
#define TS_CUBLAS(T, C, letter, rank_routine)                                                             \
  void rank_update(cublasHandle_t h, index_t p, index_t n, const T* a, T* c) {                            \
    const real_t<T> one = 1, zero = 0;                                                                    \
    check(cublas().rank_routine(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, p, n, &one,                       \
                                reinterpret_cast<const C*>(a), p, &zero, reinterpret_cast<C*>(c), p));    \
  }                                                                                                       \
  void gemv(cublasHandle_t h, cublasOperation_t op, index_t m, index_t n, const T* a, const T* x, T* y) { \
    const T one = 1, zero = 0;                                                                            \
    check(cublas().letter##gemv(h, op, m, n, reinterpret_cast<const C*>(&one),                            \
                                reinterpret_cast<const C*>(a), m, reinterpret_cast<const C*>(x), 1,       \
                                reinterpret_cast<const C*>(&zero), reinterpret_cast<C*>(y), 1));          \
  }                                                                                                       \
  void solve(cublasHandle_t h, index_t p, index_t n, const T* r, T* x) {                                  \
    const T one = 1;                                                                                      \
    check(cublas().letter##trsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,                 \
                                CUBLAS_DIAG_NON_UNIT, p, n, reinterpret_cast<const C*>(&one),             \
                                reinterpret_cast<const C*>(r), p, reinterpret_cast<C*>(x), p));           \
  }
TS_CUBLAS(double, double, d, dsyrk)
TS_CUBLAS(float, float, s, ssyrk)
TS_CUBLAS(std::complex<double>, cuDoubleComplex, z, zherk)
TS_CUBLAS(std::complex<float>, cuComplex, c, cherk)
#undef TS_CUBLAS

/// The three-multiplication product.
template <class T>
void gemm3m(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, index_t m, index_t n, index_t k,
            const T* a, index_t lda, const T* b, index_t ldb, T* c, index_t ldc) {
  const T one{1}, zero{};
  const auto call = [&](auto routine, auto* type) {
    using C = std::remove_pointer_t<decltype(type)>;
    check(routine(h, op_a, op_b, m, n, k, reinterpret_cast<const C*>(&one), reinterpret_cast<const C*>(a),
                  lda, reinterpret_cast<const C*>(b), ldb, reinterpret_cast<const C*>(&zero),
                  reinterpret_cast<C*>(c), ldc));
  };
  if constexpr (std::is_same_v<T, std::complex<double>>)
    call(cublas().zgemm3m, static_cast<cuDoubleComplex*>(nullptr));
  else
    call(cublas().cgemm3m, static_cast<cuComplex*>(nullptr));
}

}  // namespace

template <class T>
std::vector<GpuPeerBody<T>> gpu_peers(const Context& ctx, const Problem& problem) {
  using R = result_t<T>;
  using O = const Operands<T>&;
  constexpr bool full = std::is_same_v<T, R>;
  if (!cublas().complete) return {};
  const cublasHandle_t h = handle();
  check(cublas().set_stream(h, ctx.stream.handle()));
  const cublasOperation_t N = CUBLAS_OP_N, H = is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
  const index_t n = problem.n, p = problem.p, q = problem.q;
  std::vector<GpuPeerBody<T>> peers;
  switch (problem.operation) {
    case Operation::tsmttsm:
      peers.push_back({"gemm", [=](O o) { gemm<T, T>(h, N, H, q, p, n, o.y, q, o.x, p, o.result, q); }});
      if constexpr (is_complex<T>)
        peers.push_back({"gemm3m", [=](O o) { gemm3m<T>(h, N, H, q, p, n, o.y, q, o.x, p, o.result, q); }});
      if constexpr (full)
        if (p == 1 || q == 1)
          peers.push_back({"gemv", [=](O o) {
                             p == 1 ? gemv(h, N, q, n, o.y, o.x, o.result)
                                    : gemv(h, N, p, n, o.x, o.y, o.result);
                           }});
      break;
    case Operation::gram:
      peers.push_back({"gemm", [=](O o) { gemm<T, T>(h, N, H, p, p, n, o.x, p, o.x, p, o.result, p); }});
      if constexpr (full) {
        peers.push_back({is_complex<T> ? "herk" : "syrk", [=](O o) { rank_update(h, p, n, o.x, o.result); }});
        if (p == 1) peers.push_back({"gemv", [=](O o) { gemv(h, N, 1, n, o.x, o.x, o.result); }});
      }
      break;
    case Operation::tsmm:
      if constexpr (full) {
        peers.push_back({"gemm", [=](O o) { gemm<T, T>(h, N, N, q, n, p, o.small, q, o.x, p, o.out, q); }});
        if constexpr (is_complex<T>)
          peers.push_back(
              {"gemm3m", [=](O o) { gemm3m<T>(h, N, N, q, n, p, o.small, q, o.x, p, o.out, q); }});
        if (q == 1) peers.push_back({"gemv", [=](O o) { gemv(h, CUBLAS_OP_T, p, n, o.x, o.small, o.out); }});
      } else {  // cuBLAS wants both factors of one type: the same work with a 16-bit small factor
        peers.push_back({"gemm", [=](O o) {
                           gemm<T, T>(h, N, N, q, n, p, reinterpret_cast<const T*>(o.small), q, o.x, p, o.out,
                                      q);
                         }});
      }
      break;
    case Operation::tsm2r:
      peers.push_back({"gemm", [=](O o) { gemm<T, T>(h, N, N, q, n, p, o.y, q, o.x, p, o.out, q); }});
      if constexpr (full)
        if (q == 1) peers.push_back({"gemv", [=](O o) { gemv(h, CUBLAS_OP_T, p, n, o.x, o.y, o.out); }});
      break;
    case Operation::trsm:
      if constexpr (full) peers.push_back({"trsm", [=](O o) { solve(h, p, n, o.small, o.out); }});
      break;
    default:
      break;
  }
  return peers;
}
#define TS_INSTANTIATE(T) template std::vector<GpuPeerBody<T>> gpu_peers<T>(const Context&, const Problem&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

std::string cublas_version() {
  if (!cublas().complete) return {};
  int version = 0;
  check(cublas().version(handle(), &version));
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace ts::bench
