#include "tallskinny/gemm/backend/cpu/outer.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r_detail.hpp"

namespace ts::fast {

template <class T>
void tsm2r(const Context& ctx, Op op_d, result_t<T> alpha, Strided<const T> d, Strided<const T> x,
           result_t<T> beta, Strided<result_t<T>> y) {
  // The same product as TSMM with a long "row" of the tall operand: the kernels take it in pieces.
  const cpu::Kernels& kernels = cpu::kernels(ctx.simd);
  const cpu::SmallFactor<T> factor(kernels, x.rows, x.cols, op_d == Op::adjoint, [&](index_t i, index_t j) {
    return cpu::scaled(alpha, cpu::widened(x(i, j)));
  });
  cpu::multiply<T>(ctx, kernels, op_d == Op::none ? d : d.transposed(), factor, beta, y);
}

#define TS_INSTANTIATE(T)                                                                                  \
  template void tsm2r<T>(const Context&, Op, result_t<T>, Strided<const T>, Strided<const T>, result_t<T>, \
                         Strided<result_t<T>>);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::fast
