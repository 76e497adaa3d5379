// cuBLAS's own ways: gemm as it chooses, three-multiplication products, rank updates, matrix times vector,
// dot products, triangular solves.
#include "tallskinny/app/tsbench/peers/vendor.hpp"

namespace ts::bench {

namespace {

struct Cublas : VendorLibrary {
  decltype(&cublasCreate_v2) create = find("cublasCreate_v2");
  decltype(&cublasSetStream_v2) set_stream = find("cublasSetStream_v2");
  decltype(&cublasSetPointerMode_v2) set_pointers = find("cublasSetPointerMode_v2");
  decltype(&cublasGetProperty) property = find("cublasGetProperty");
  decltype(&cublasGemmEx_64) gemm = find("cublasGemmEx_64");
  decltype(&cublasDotcEx_64) dot = find("cublasDotcEx_64");
  decltype(&cublasNrm2Ex_64) norm = find("cublasNrm2Ex_64");
  decltype(&cublasDsyrk_v2_64) dsyrk = find("cublasDsyrk_v2_64");
  decltype(&cublasSsyrk_v2_64) ssyrk = find("cublasSsyrk_v2_64");
  decltype(&cublasZherk_v2_64) zherk = find("cublasZherk_v2_64");
  decltype(&cublasCherk_v2_64) cherk = find("cublasCherk_v2_64");
  decltype(&cublasCherk3mEx_64) cherk3m = find("cublasCherk3mEx_64");
  decltype(&cublasDgemv_v2_64) dgemv = find("cublasDgemv_v2_64");
  decltype(&cublasSgemv_v2_64) sgemv = find("cublasSgemv_v2_64");
  decltype(&cublasZgemv_v2_64) zgemv = find("cublasZgemv_v2_64");
  decltype(&cublasCgemv_v2_64) cgemv = find("cublasCgemv_v2_64");
  decltype(&cublasDtrsm_v2_64) dtrsm = find("cublasDtrsm_v2_64");
  decltype(&cublasStrsm_v2_64) strsm = find("cublasStrsm_v2_64");
  decltype(&cublasZtrsm_v2_64) ztrsm = find("cublasZtrsm_v2_64");
  decltype(&cublasCtrsm_v2_64) ctrsm = find("cublasCtrsm_v2_64");
  decltype(&cublasZgemm3m_64) zgemm3m = find("cublasZgemm3m_64");
  decltype(&cublasCgemm3m_64) cgemm3m = find("cublasCgemm3m_64");

  Cublas() : VendorLibrary({"libcublas.so.13", "libcublas.so.12"}) {}
};

const Cublas& cublas() {
  static const Cublas library;
  return library;
}

void check(cublasStatus_t status) { expect_success("cuBLAS", static_cast<int>(status)); }

/// A handle of this process whose results are scalars of the host, or of the device.
cublasHandle_t handle(const Context& ctx, bool device_scalars = false) {
  static std::array<cublasHandle_t, 2> handles{};
  cublasHandle_t& h = handles[device_scalars ? 1 : 0];
  if (h == nullptr) check(cublas().create(&h));
  check(cublas().set_stream(h, ctx.stream.handle()));
  check(cublas().set_pointers(h, device_scalars ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
  return h;
}

// One name for the four routines of each kind.
#define TS_CUBLAS(T, C, letter, rank_routine)                                                                          \
  void rank_update(cublasHandle_t h, cublasOperation_t op, index_t p, index_t n, const T* a, index_t lda, T* c) {      \
    const real_t<T> one = 1, zero = 0;                                                                                 \
    check(cublas().rank_routine(h, CUBLAS_FILL_MODE_LOWER, op, p, n, &one, reinterpret_cast<const C*>(a), lda, &zero,  \
                                reinterpret_cast<C*>(c), p));                                                          \
  }                                                                                                                    \
  void gemv(cublasHandle_t h, cublasOperation_t op, const DeviceStrided<const T>& a, const T* x, index_t x_step, T* y, \
            index_t y_step) {                                                                                          \
    alignas(C) const T one = 1, zero = 0;                                                                              \
    const bool rows = a.col_stride == 1;                                                                               \
    check(cublas().letter##gemv(h, op, rows ? a.cols : a.rows, rows ? a.rows : a.cols,                                 \
                                reinterpret_cast<const C*>(&one), reinterpret_cast<const C*>(a.data), ld_of(a),        \
                                reinterpret_cast<const C*>(x), x_step, reinterpret_cast<const C*>(&zero),              \
                                reinterpret_cast<C*>(y), y_step));                                                     \
  }                                                                                                                    \
  void solve(cublasHandle_t h, bool rows, index_t p, index_t n, const T* r, T* x, index_t ld) {                        \
    alignas(C) const T one = 1;                                                                                        \
    check(cublas().letter##trsm(h, rows ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER,                \
                                rows ? CUBLAS_OP_N : CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, rows ? p : n, rows ? n : p,    \
                                reinterpret_cast<const C*>(&one), reinterpret_cast<const C*>(r), p,                    \
                                reinterpret_cast<C*>(x), ld));                                                         \
  }
TS_CUBLAS(double, double, d, dsyrk)
TS_CUBLAS(float, float, s, ssyrk)
TS_CUBLAS(std::complex<double>, cuDoubleComplex, z, zherk)
TS_CUBLAS(std::complex<float>, cuComplex, c, cherk)
#undef TS_CUBLAS

template <class T>
void gemm(cublasHandle_t h, const DenseProduct<T>& p, result_t<T> alpha = result_t<T>{1}, result_t<T> beta = {}) {
  using R = result_t<T>;
  check(cublas().gemm(h, p.op_a, p.op_b, p.m, p.n, p.k, &alpha, p.a, data_type<T>(), p.lda, p.b, data_type<T>(), p.ldb,
                      &beta, p.c, data_type<R>(), p.ldc, compute_type<T>(), CUBLAS_GEMM_DEFAULT));
}

/// The three-multiplication product.
template <class T>
void gemm3m(cublasHandle_t h, const DenseProduct<T>& p) {
  const T one{1}, zero{};
  const auto call = [&](auto routine, auto* type) {
    using C = std::remove_pointer_t<decltype(type)>;
    check(routine(h, p.op_a, p.op_b, p.m, p.n, p.k, reinterpret_cast<const C*>(&one), reinterpret_cast<const C*>(p.a),
                  p.lda, reinterpret_cast<const C*>(p.b), p.ldb, reinterpret_cast<const C*>(&zero),
                  reinterpret_cast<C*>(p.c), p.ldc));
  };
  if constexpr (std::is_same_v<T, std::complex<double>>)
    call(cublas().zgemm3m, static_cast<cuDoubleComplex*>(nullptr));
  else
    call(cublas().cgemm3m, static_cast<cuComplex*>(nullptr));
}

/// The products of which one factor or the result is a vector.
template <class T>
void add_gemv(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers) {
  using O = const DeviceOperands<T>&;
  const bool rows = by_rows(example);
  const Problem& pr = example.problem;
  const bool gram = pr.operation == Operation::gram, small = pr.operation == Operation::tsmm;
  if ((gram || pr.operation == Operation::tsmttsm) && (pr.p == 1 || pr.q == 1))
    peers.push_back({"vendor", "gemv", [=](O o) {
                       const auto& y = gram ? o.x : o.y;
                       const auto &a = o.problem.p == 1 ? y : o.x, &x = o.problem.p == 1 ? o.x : y;
                       gemv(handle(ctx), rows ? CUBLAS_OP_N : adjoint_of<T>, a, x.data, x.row_stride, o.result.data, 1);
                     }});
  if ((small || pr.operation == Operation::tsm2r) && pr.q == 1)
    peers.push_back({"vendor", "gemv", [=](O o) {
                       gemv(handle(ctx), rows ? CUBLAS_OP_T : CUBLAS_OP_N, o.x, small ? o.small.data : o.y.data,
                            small ? 1 : o.y.row_stride, o.out.data, o.out.row_stride);
                     }});
}

/// The fused steps of block Gram-Schmidt, one product after the other.
template <class T>
void add_steps(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers) {
  const Operation op = example.problem.operation;
  if (op != Operation::inner_and_gram && op != Operation::project_out) return;
  peers.push_back({"vendor", "gemms", [ctx, op](const DeviceOperands<T>& o) {
                     const cublasHandle_t h = handle(ctx);
                     DeviceOperands<T> step = o;
                     if (op == Operation::project_out) {  // W = W - V S
                       step.problem.operation = Operation::tsmm;
                       gemm(h, *product_of(step), T{-1}, T{1});
                       step.y = o.out;
                     }
                     step.problem.operation = Operation::tsmttsm;
                     gemm(h, *product_of(step));
                     step.problem.operation = Operation::gram;
                     step.problem.p = o.problem.q, step.x = step.y, step.result = o.gram;
                     gemm(h, *product_of(step));
                   }});
}

}  // namespace

template <class T>
void add_cublas_peers(const Context& ctx, const DeviceOperands<T>& example, std::vector<DevicePeer<T>>& peers) {
  using R = result_t<T>;
  using O = const DeviceOperands<T>&;
  constexpr bool full = std::is_same_v<T, R>;
  if (!cublas().complete()) return;
  const auto h = [ctx] { return handle(ctx); };
  const Problem& pr = example.problem;
  if (product_of(example)) {
    peers.push_back({"vendor", "gemm", [=](O o) { gemm(h(), *product_of(o)); }});
    if constexpr (is_complex<T>) peers.push_back({"vendor", "gemm3m", [=](O o) { gemm3m(h(), *product_of(o)); }});
  }
  if constexpr (full) {
    add_steps(ctx, example, peers);
    add_gemv(ctx, example, peers);
    const bool rows = by_rows(example);
    const cublasOperation_t op = rows ? CUBLAS_OP_N : adjoint_of<T>;
    if (pr.operation == Operation::gram) {
      peers.push_back({"vendor", is_complex<T> ? "herk" : "syrk",
                       [=](O o) { rank_update(h(), op, o.x.cols, o.x.rows, o.x.data, ld_of(o.x), o.result.data); }});
      if constexpr (std::is_same_v<T, std::complex<float>>)
        peers.push_back({"vendor", "herk3m", [=](O o) {
                           const float one = 1, zero = 0;
                           check(cublas().cherk3m(h(), CUBLAS_FILL_MODE_LOWER, op, o.x.cols, o.x.rows, &one, o.x.data,
                                                  CUDA_C_32F, ld_of(o.x), &zero, o.result.data, CUDA_C_32F, o.x.cols));
                         }});
    }
    if (pr.operation == Operation::trsm)
      peers.push_back({"vendor", "trsm",
                       [=](O o) { solve(h(), rows, o.out.cols, o.out.rows, o.small.data, o.out.data, ld_of(o.out)); }});
  }
  const bool one_sum = pr.p == 1 && (pr.q == 1 || pr.operation == Operation::gram);
  if (one_sum && (pr.operation == Operation::tsmttsm || pr.operation == Operation::gram))
    peers.push_back({"vendor", "dot", [=](O o) {
                       const auto& y = o.problem.operation == Operation::gram ? o.x : o.y;
                       check(cublas().dot(handle(ctx, true), o.x.rows, o.x.data, data_type<T>(), o.x.row_stride, y.data,
                                          data_type<T>(), y.row_stride, o.result.data, data_type<T>(),
                                          full ? data_type<T>() : CUDA_R_32F));
                     }});
  if (pr.p == 1 && pr.operation == Operation::column_norms)
    peers.push_back({"vendor", "nrm2", [=](O o) {
                       check(cublas().norm(handle(ctx, true), o.x.rows, o.x.data, data_type<T>(), o.x.row_stride,
                                           o.result.data, full ? data_type<real_t<R>>() : data_type<T>(),
                                           full ? data_type<real_t<R>>() : CUDA_R_32F));
                     }});
}
#define TS_INSTANTIATE(T) \
  template void add_cublas_peers<T>(const Context&, const DeviceOperands<T>&, std::vector<DevicePeer<T>>&);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

std::string cublas_version() { return cublas().complete() ? version_by(cublas().property) : std::string(); }

}  // namespace ts::bench
