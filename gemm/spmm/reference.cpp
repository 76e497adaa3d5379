#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/core/eigen_reference.hpp"
#include "tallskinny/gemm/spmm/detail.hpp"

namespace ts::inline v0::reference {

template <class T, class I>
void spmm(Op op_a, result_t<T> alpha, CsrView<T, Space::host, I> a, Strided<const T> x, result_t<T> beta,
          Strided<result_t<T>> y) {
  using R = result_t<T>;
  Row<R> x_j, sum(x.cols);
  if (op_a == Op::none) {
    for (index_t i = 0; i < a.rows; ++i) {
      sum.setZero();
      for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) {
        load_row(x, a.indices[e], x_j);
        sum += widened(a.values[e]) * x_j;
      }
      store_row(alpha, sum, beta, y, i);  // Y(i, :) = alpha sum_e A(i, j_e) X(j_e, :) + beta Y(i, :)
    }
    return;
  }
  detail::scale_output(beta, y);
  for (index_t i = 0; i < a.rows; ++i) {
    load_row(x, i, x_j);
    for (index_t e = a.pointers[i]; e < a.pointers[i + 1]; ++e) {
      sum = conjugate_if(op_a == Op::adjoint, widened(a.values[e])) * x_j;
      store_row(alpha, sum, R{1}, y, a.indices[e]);  // Y(j_e, :) += alpha op(A(i, j_e)) X(i, :)
    }
  }
}

TS_FOR_EACH_TYPE(TS_INDEXED_FUNCTION, spmm)
#undef TS_INSTANTIATE_INDEX

}  // namespace ts::inline v0::reference
