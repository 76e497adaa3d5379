// cuBLAS and cuSPARSE, where they are found when a program runs.
#pragma once

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::cuda {

/// C = alpha op(A) B + beta C for `count` A (m x k), B (k x n) and C (m x n), each so many elements behind the one
/// before. op conjugates or does nothing; A^T is a view of A.
template <class T>
struct Products {
  DeviceStrided<const T> a, b;
  bool conjugate = false;
  DeviceStrided<result_t<T>> c;
  index_t count = 1, step_a = 0, step_b = 0, step_c = 0;
};

/// Whether cuBLAS can be asked for it: lines without gaps between their elements, and A conjugated only where A and C
/// lie unlike each other.
template <class T>
[[nodiscard]] bool cublas_takes(const Products<T>& products) noexcept;

/// Whether the library is there. Loads it when it is first asked.
[[nodiscard]] bool cublas_found();
[[nodiscard]] bool cusparse_found();

/// Adds the work to ctx.stream. Equal shapes on equal GPUs give equal bits: every stream has a handle and a workspace
/// of its own (cuBLAS documentation, "Results Reproducibility"). float32 is computed in float32.
/// @throws Error(device_failure) where the library refuses.
template <class T>
void multiply_by_cublas(const Context& ctx, result_t<T> alpha, const Products<T>& products, result_t<T> beta);

/// The upper triangle of C = op(A) A, p x p by rows without gaps, op transposed or adjoint, for A (n x p) by rows, in
/// float64 or complex128. Below the diagonal C is left as it is. Otherwise as above.
template <class T>
void rank_update_by_cublas(const Context& ctx, Op op, DeviceStrided<const T> a, T* c);

/// Y (m x q) = alpha A X + beta Y by CUSPARSE_SPMM_CSR_ALG3 with row-major X (n x q) and Y, in ctx.stream. What it
/// prepares for A and these widths stays in a.kept, which must not be null: of 32-bit column numbers a copy of the row
/// pointers with 32 bits too, and a buffer.
/// @throws Error(device_failure) where the library refuses, Error(out_of_memory).
template <class T, class I>
void multiply_by_cusparse(const Context& ctx, result_t<T> alpha, const CsrView<T, Space::device, I>& a,
                          DeviceStrided<const T> x, result_t<T> beta, DeviceStrided<result_t<T>> y);

}  // namespace ts::inline v0::cuda
