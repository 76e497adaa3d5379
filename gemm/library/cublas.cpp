#include "tallskinny/gemm/library/calls.hpp"

#include <cublas_v2.h>

#include <optional>

#include "tallskinny/gemm/library/data_type.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/vendor_library.hpp"

namespace ts::inline v0::cuda {

namespace {

struct Cublas : VendorLibrary {
  decltype(&cublasCreate_v2) create = find("cublasCreate_v2");
  decltype(&cublasDestroy_v2) destroy = find("cublasDestroy_v2");
  decltype(&cublasSetStream_v2) set_stream = find("cublasSetStream_v2");
  decltype(&cublasSetWorkspace_v2) set_workspace = find("cublasSetWorkspace_v2");
  decltype(&cublasGemmStridedBatchedEx_64) multiply = find("cublasGemmStridedBatchedEx_64");
  decltype(&cublasDsyrk_v2_64) dsyrk = find("cublasDsyrk_v2_64");
  decltype(&cublasZsyrk_v2_64) zsyrk = find("cublasZsyrk_v2_64");
  decltype(&cublasZherk_v2_64) zherk = find("cublasZherk_v2_64");

  Cublas() : VendorLibrary({"libcublas.so.13", "libcublas.so.12"}) {}
};

const Cublas& cublas() {
  static const Cublas library;
  return library;
}

void check(cublasStatus_t status) { expect_success("cuBLAS", static_cast<int>(status)); }

/// Of a stream.
struct Handle {
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what cuBLAS asks for on Hopper

  explicit Handle(const Stream& stream) : workspace(stream, workspace_bytes) {
    stream.with_device([&] { check(cublas().create(&handle)); });
    check(cublas().set_stream(handle, stream.handle()));
    check(cublas().set_workspace(handle, workspace.data(), workspace.bytes()));
  }
  ~Handle() { cublas().destroy(handle); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Memory workspace;
  cublasHandle_t handle = nullptr;
};

template <class T>
constexpr cublasComputeType_t compute_type =
    std::is_same_v<real_t<T>, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;

/// Nothing where elements of a line are not neighbours.
template <class T>
std::optional<Layout> layout_of(const DeviceStrided<T>& v) noexcept {
  if ((v.col_stride == 1 || v.cols == 1) && v.row_stride >= v.cols) return Layout::row_major;
  if ((v.row_stride == 1 || v.rows == 1) && v.col_stride >= v.rows) return Layout::col_major;
  return std::nullopt;
}

/// A matrix as a column-major library is told of it: to it a row-major one is its transpose.
template <class T>
struct Told {
  Told(const DeviceStrided<const T>& v, Layout of_c, bool conjugated)
      : data(v.data), layout(*layout_of(v)), ld(layout == Layout::row_major ? v.row_stride : v.col_stride) {
    op = layout == of_c ? CUBLAS_OP_N : conjugated ? CUBLAS_OP_C : CUBLAS_OP_T;
  }
  const T* data;
  Layout layout;
  index_t ld;
  cublasOperation_t op;
};

}  // namespace

bool cublas_found() { return cublas().complete(); }

template <class T>
bool cublas_takes(const Products<T>& products) noexcept {
  const auto a = layout_of(products.a), b = layout_of(products.b), c = layout_of(products.c);
  return a && b && c && !(products.conjugate && is_complex<T> && a == c);
}

template <class T>
void multiply_by_cublas(const Context& ctx, result_t<T> alpha, const Products<T>& products, result_t<T> beta) {
  const Stream& stream = ctx.stream;
  if (stream.rehearsal() != nullptr) return;
  const DeviceStrided<result_t<T>>& c = products.c;
  const Layout layout = *layout_of(c);
  const bool rows = layout == Layout::row_major;  // then C^T = B^T op(A)^T
  const Told<T> a(products.a, layout, products.conjugate && is_complex<T>), b(products.b, layout, false);
  const Told<T>&first = rows ? b : a, &second = rows ? a : b;
  const index_t first_step = rows ? products.step_b : products.step_a,
                second_step = rows ? products.step_a : products.step_b;
  // The library reads pairs of float64 sixteen bytes at once.
  alignas(16) const result_t<T> alpha_there = alpha, beta_there = beta;
  stream.with_device([&] {
    check(cublas().multiply(stream.kept<Handle>().handle, first.op, second.op, rows ? c.cols : c.rows,
                            rows ? c.rows : c.cols, products.a.cols, &alpha_there, first.data, data_type<T>(), first.ld,
                            first_step, second.data, data_type<T>(), second.ld, second_step, &beta_there, c.data,
                            data_type<result_t<T>>(), rows ? c.row_stride : c.col_stride, products.step_c,
                            products.count, compute_type<T>, CUBLAS_GEMM_DEFAULT));
  });
}

template <class T>
void rank_update_by_cublas(const Context& ctx, Op op, DeviceStrided<const T> a, T* c) {
  const Stream& stream = ctx.stream;
  if (stream.rehearsal() != nullptr) return;
  // To a column-major library A is A^T, and the upper triangle of C by rows is its lower one.
  const auto update = [&]<class C, class Scalar>(auto routine, C* to, Scalar unit) {
    alignas(16) const Scalar one = unit, zero{};
    stream.with_device([&] {
      check(routine(stream.kept<Handle>().handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, a.cols, a.rows, &one,
                    reinterpret_cast<const C*>(a.data), a.row_stride, &zero, to, a.cols));
    });
  };
  if constexpr (!is_complex<T>)
    update(cublas().dsyrk, c, 1.0);
  else if (op == Op::adjoint)
    update(cublas().zherk, reinterpret_cast<cuDoubleComplex*>(c), 1.0);
  else
    update(cublas().zsyrk, reinterpret_cast<cuDoubleComplex*>(c), cuDoubleComplex{1, 0});
}

template void rank_update_by_cublas<double>(const Context&, Op, DeviceStrided<const double>, double*);
template void rank_update_by_cublas<std::complex<double>>(const Context&, Op, DeviceStrided<const std::complex<double>>,
                                                          std::complex<double>*);

TS_FOR_EACH_TYPE(TS_FUNCTION, cublas_takes)
TS_FOR_EACH_TYPE(TS_FUNCTION, multiply_by_cublas)

}  // namespace ts::inline v0::cuda
