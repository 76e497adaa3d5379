// cuSPARSE, where it is found when a program runs.
#pragma once

#include "tallskinny/gemm/core/csr.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::cuda {

/// Whether the library is there. Loads it when it is first asked.
[[nodiscard]] bool cusparse_found();

/// Y (m x q) = alpha A X + beta Y by CUSPARSE_SPMM_CSR_ALG3 with row-major X (n x q) and Y, in ctx.stream. What it
/// prepares for A and these widths stays in a.kept, which must not be null: of 32-bit column numbers a copy of the row
/// pointers with 32 bits too, and a buffer.
/// @throws Error(device_failure) where the library refuses, Error(out_of_memory).
template <class T, class I>
void multiply_by_cusparse(const Context& ctx, result_t<T> alpha, const CsrView<T, Space::device, I>& a,
                          DeviceStrided<const T> x, result_t<T> beta, DeviceStrided<result_t<T>> y);

}  // namespace ts::inline v0::cuda
