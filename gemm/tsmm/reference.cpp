#include "tallskinny/gemm/core/eigen_reference.hpp"
#include "tallskinny/gemm/tsmm/detail.hpp"

namespace ts::inline v0::reference {

template <class T>
void tsmm(Op op_s, result_t<T> alpha, Strided<const T> x, Strided<const result_t<T>> s, result_t<T> beta,
          Strided<result_t<T>> y) {
  using R = result_t<T>;
  const Dense<R> op_of_s = copy_of(op_s, s);
  Row<R> x_i, product(y.cols);
  for (index_t i = 0; i < x.rows; ++i) {
    load_row(x, i, x_i);
    product.noalias() = x_i * op_of_s;
    store_row(alpha, product, beta, y, i);  // Y(i, :) = alpha X(i, :) op(S) + beta Y(i, :)
  }
}

template <class T>
void tsmm_in_place(Op op_s, T alpha, Strided<T> x, Strided<const T> s) {
  auto y = x;
  y.cols = op_s == Op::none ? s.cols : s.rows;
  Strided<const T> x_in;  // each row is loaded before it is overwritten
  x_in.data = x.data, x_in.rows = x.rows, x_in.cols = x.cols;
  x_in.row_stride = x.row_stride, x_in.col_stride = x.col_stride;
  tsmm<T>(op_s, alpha, x_in, s, T{}, y);
}

TS_FOR_EACH_TYPE(TS_FUNCTION, tsmm)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, tsmm_in_place)

}  // namespace ts::inline v0::reference
