#include "tallskinny/gemm/core/eigen_reference.hpp"
#include "tallskinny/gemm/tsm2r/detail.hpp"

namespace ts::inline v0::reference {

template <class T>
void tsm2r(Op op_d, result_t<T> alpha, Strided<const T> d, Strided<const T> x, result_t<T> beta,
           Strided<result_t<T>> y) {
  using R = result_t<T>;
  const auto lines = op_d == Op::none ? d : d.transposed();
  const Dense<R> x_copy = copy_of(Op::none, x);
  Row<R> d_i, product(y.cols);
  for (index_t i = 0; i < y.rows; ++i) {
    load_row(lines, i, d_i);
    if (op_d == Op::adjoint) d_i = d_i.conjugate().eval();
    product.noalias() = d_i * x_copy;
    store_row(alpha, product, beta, y, i);  // Y(i, :) = alpha op(D)(i, :) X + beta Y(i, :)
  }
}

TS_FOR_EACH_TYPE(TS_FUNCTION, tsm2r)

}  // namespace ts::inline v0::reference
