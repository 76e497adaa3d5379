// Wide products by the BLAS of the machine, where its kernels are faster than the tiles here: the shape alone fixes
// pieces of the result, and each is a call on one thread, so that the bits do not depend on the number of threads.
#pragma once

#include "tallskinny/gemm/cpu/inner.hpp"
#include "tallskinny/gemm/cpu/outer.hpp"

namespace ts::inline v0::cpu {

/// Whether a product whose result, per row or as a whole, is p x q (in reals) is left to the BLAS: the machine has an
/// OpenBLAS that several threads may call, it was measured to be faster with these vectors, and neither vectors are
/// prescribed nor rows to have the same bits wherever they lie, which differ at the edges of what the BLAS is given.
[[nodiscard]] bool library_pays(const Context& ctx, index_t p, index_t q);

/// multiply() of a row-major X and op(S) by xGEMM; false, and nothing done, where that is not faster or does not fit.
template <class T>
[[nodiscard]] bool library_multiply(const Context& ctx, Op op_s, result_t<T> alpha, Strided<const T> x,
                                    Strided<const result_t<T>> s, result_t<T> beta, Strided<result_t<T>> y);

/// C = alpha op(A) B + beta C of row-major operands by xGEMM, or for `gram`, where B is A, by xSYRK; likewise. Sums of
/// float32 are added in float64 every 2048 rows.
template <class T>
[[nodiscard]] bool library_inner(const Context& ctx, const Kernels& kernels, Op op, result_t<T> alpha,
                                 Strided<const T> a, Strided<const T> b, result_t<T> beta, Strided<result_t<T>> c,
                                 bool gram);

}  // namespace ts::inline v0::cpu
