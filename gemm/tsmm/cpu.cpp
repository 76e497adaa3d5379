#include "tallskinny/gemm/cpu/library.hpp"
#include "tallskinny/gemm/tsmm/detail.hpp"

namespace ts::inline v0::fast {

namespace {

/// alpha op(S) for X of type T.
template <class T>
cpu::SmallFactor<T> small_factor(const cpu::Kernels& kernels, Op op_s, result_t<T> alpha,
                                 Strided<const result_t<T>> s) {
  const auto from = op_s == Op::none ? s : s.transposed();
  return {kernels, from.rows, from.cols, false, [&](index_t i, index_t j) {
            const result_t<T> value = from(i, j);
            if constexpr (is_complex<T>)
              return cpu::scaled(alpha, op_s == Op::adjoint ? std::conj(value) : value);
            else
              return alpha * value;
          }};
}

}  // namespace

template <class T>
void tsmm(const Context& ctx, Op op_s, result_t<T> alpha, Strided<const T> x, Strided<const result_t<T>> s,
          result_t<T> beta, Strided<result_t<T>> y) {
  const cpu::Kernels& kernels = cpu::kernels(ctx.simd);
  if (cpu::library_multiply<T>(ctx, op_s, alpha, x, s, beta, y)) return;
  cpu::multiply<T>(ctx, kernels, x, small_factor<T>(kernels, op_s, alpha, s), beta, y);
}

template <class T>
void tsmm_in_place(const Context& ctx, Op op_s, T alpha, Strided<T> x, Strided<const T> s) {
  const cpu::Kernels& kernels = cpu::kernels(ctx.simd);
  const auto factor = small_factor<T>(kernels, op_s, alpha, s);
  Strided<T> y = x;
  y.cols = factor.width() / cpu::reals_in<T>;
  cpu::multiply<T>(ctx, kernels, cpu::as_const(x), factor, T{}, y);
}

TS_FOR_EACH_TYPE(TS_FUNCTION, tsmm)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, tsmm_in_place)

}  // namespace ts::inline v0::fast
