// Operations that a library carries out where the device's table says that it is faster.
#pragma once

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/core/view.hpp"
#include "tallskinny/gemm/plan/gpu_problem.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::cuda {

/// C (p x q) = alpha op(A) B + beta C, op transposed or adjoint, A (n x p) and B (n x q) with sums over their rows;
/// for Operation::gram B is A. False, and nothing is done, unless the table names cuBLAS for `problem` and it is there.
template <class T>
[[nodiscard]] bool inner_by_library(const Context& ctx, const GpuProblem& problem, Op op, result_t<T> alpha,
                                    DeviceStrided<const T> a, DeviceStrided<const T> b, result_t<T> beta,
                                    DeviceStrided<result_t<T>> c);

/// Y (m x q) = alpha A B + beta Y, A (m x k) conjugated or not, B (k x q). False as above.
template <class T>
[[nodiscard]] bool product_by_library(const Context& ctx, const GpuProblem& problem, bool conjugate, result_t<T> alpha,
                                      DeviceStrided<const T> a, DeviceStrided<const T> b, result_t<T> beta,
                                      DeviceStrided<result_t<T>> y);

/// Y = alpha A X + beta Y for a sparse A that keeps what cuSPARSE prepares (DeviceCsrMatrix does). False as above.
template <class T, class I>
[[nodiscard]] bool spmm_by_library(const Context& ctx, const GpuProblem& problem, result_t<T> alpha,
                                   const CsrView<T, Space::device, I>& a, DeviceStrided<const T> x, result_t<T> beta,
                                   DeviceStrided<result_t<T>> y);

}  // namespace ts::inline v0::cuda
